import { inflateRawSync } from 'node:zlib'

// Signatures and field offsets of APPNOTE.TXT 4.3: the end record, a directory entry, a file's own header.
const END = 0x06054b50
const ENTRY = 0x02014b50
const DEFLATED = 8

/** The bytes of one file of a ZIP archive (no ZIP64, no encryption). */
export function unzip(zip, name) {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end === -1 || zip.readUInt32LE(end) !== END) throw new Error('not a ZIP archive')
  let at = zip.readUInt32LE(end + 16)
  while (at < end && zip.readUInt32LE(at) === ENTRY) {
    const nameLength = zip.readUInt16LE(at + 28)
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === name) return content(zip, at)
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  throw new Error(`${name} is not in the archive`)
}

function content(zip, entry) {
  const header = zip.readUInt32LE(entry + 42)
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28)
  const bytes = zip.subarray(start, start + zip.readUInt32LE(entry + 20))
  return zip.readUInt16LE(entry + 10) === DEFLATED ? inflateRawSync(bytes) : bytes
}
