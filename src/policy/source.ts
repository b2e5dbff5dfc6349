/** The text of a policy set, as it stands on disk at one moment. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileMessage, type PolicyMessage } from './messages.js'

export interface PolicyFile {
  readonly name: string
  readonly text: string
}

export interface PolicySource {
  /** As given; `''` for a source made of single files, whose names are then their paths. */
  readonly dir: string
  /** By name. */
  readonly files: readonly PolicyFile[]
  /** Of all names and texts, hex. */
  readonly hash: string
  /** What could not be read; `files` holds what could. */
  readonly problems: readonly PolicyMessage[]
}

/** Larger than any ConfigMap may be. */
const MAX_FILE_BYTES = 1024 * 1024
/** The link that the kubelet swaps when a mounted ConfigMap changes; its target is named after the time of writing. */
export const DATA_LINK = '..data'
/** How often a swap may come between while the files are read. */
const READS = 5

/** Every `*.yaml` and `*.yml` in `dir` that does not begin with a dot, through one resolved `..data` where there is one. */
export function readPolicyDirectory(dir: string): PolicySource {
  for (let left = READS; ; left--) {
    const link = dataLink(dir)
    const source = readOnce(dir, link === null ? dir : join(dir, link))
    if (link === dataLink(dir) || left === 1) return source
  }
}

/** Single files as one set; a path that cannot be read is one of its `problems`. */
export function readPolicyFiles(paths: readonly string[]): PolicySource {
  return collect('', paths, readText)
}

/** What a directory with these files would be; messages name each by its name alone. */
export function policySource(files: ReadonlyMap<string, string>): PolicySource {
  const names = [...files.keys()].filter(isPolicyFile)
  const source = collect('', names, name => textOf(Buffer.from(files.get(name) ?? '')))
  if (names.length > 0) return source
  return { ...source, problems: [fileMessage('FB002', '', 'no file that ends in .yaml or .yml')] }
}

/** `*.yaml` and `*.yml` without a dot in front. */
export function isPolicyFile(name: string): boolean {
  return /^[^.].*\.ya?ml$/.test(name)
}

/** How messages name a file of a source. */
export function fileLabel(source: { readonly dir: string }, name: string): string {
  return source.dir === '' ? name : join(source.dir, name)
}

function readOnce(dir: string, root: string): PolicySource {
  let names: string[]
  try {
    names = readdirSync(root).filter(isPolicyFile)
  } catch (error) {
    const text = root === dir || errorCode(error) !== 'ENOENT' ? directoryFault(error) : danglingText(root)
    return { dir, files: [], hash: hashOf([]), problems: [fileMessage('FB001', dir, text)] }
  }
  const source = collect(dir, names, name => readText(join(root, name)))
  if (names.length > 0) return source
  return { ...source, problems: [fileMessage('FB002', dir, 'no file that ends in .yaml or .yml')] }
}

function collect(dir: string, names: readonly string[], read: (name: string) => string | TextFault): PolicySource {
  const files: PolicyFile[] = []
  const problems: PolicyMessage[] = []
  for (const name of [...new Set(names)].sort()) {
    const text = read(name)
    if (typeof text === 'string') files.push({ name, text })
    else problems.push(fileMessage(text.code, fileLabel({ dir }, name), text.text))
  }
  return { dir, files, hash: hashOf(files), problems }
}

interface TextFault {
  readonly code: 'FB003' | 'FB004'
  readonly text: string
}

function readText(path: string): string | TextFault {
  try {
    const facts = statSync(path)
    if (facts.isDirectory()) return { code: 'FB003', text: 'is a directory, not a file' }
    if (!facts.isFile()) return { code: 'FB003', text: 'is not a regular file' }
    return facts.size > MAX_FILE_BYTES ? tooLarge(facts.size) : textOf(readFileSync(path))
  } catch (error) {
    return { code: 'FB003', text: `cannot be read: ${reason(error)}` }
  }
}

/** What a file, or standard input, says; or why it cannot be used. */
export function textOf(bytes: Uint8Array): string | TextFault {
  if (bytes.length > MAX_FILE_BYTES) return tooLarge(bytes.length)
  if (isUtf16(bytes)) return { code: 'FB003', text: 'is UTF-16 text: save it as UTF-8' }
  if (bytes.includes(0)) return { code: 'FB003', text: 'is not text: it has NUL bytes' }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { code: 'FB003', text: 'is not UTF-8 text' }
  }
}

/** By its byte order mark, or else by the NUL that is half of its first letter. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second, third, fourth] = bytes
  if (bytes.length % 2 === 1) return false
  if (first === 0xff && second === 0xfe) return third !== 0 || fourth !== 0
  if (first === 0xfe && second === 0xff) return true
  return first === 0 ? second !== 0 && third === 0 && fourth !== 0 : second === 0 && third !== 0 && fourth === 0
}

function tooLarge(bytes: number): TextFault {
  return { code: 'FB004', text: `has ${bytes} bytes; at most ${MAX_FILE_BYTES} are read` }
}

function dataLink(dir: string): string | null {
  try {
    return readlinkSync(join(dir, DATA_LINK))
  } catch {
    return null
  }
}

function danglingText(root: string): string {
  return `the link ${DATA_LINK} points to nothing: there is no ${basename(root)} in the directory`
}

function directoryFault(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOENT') return 'the policy directory does not exist'
  if (code === 'ENOTDIR') return 'is not a directory'
  return `the policy directory cannot be read: ${reason(error)}`
}

/** Why a path cannot be used, in words. */
export function reason(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOENT') return 'it does not exist'
  if (code === 'ELOOP') return 'its symbolic links lead round in a circle'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  return code
}

/** `ENOENT` and the like; the error's own text where it has no code. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? String(error.code) : error.message
}

/** Names and lengths are part of it, so that text moved from one file to the next is a change. */
function hashOf(files: readonly PolicyFile[]): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name}\0${text.length}\0${text}`)
  return hash.digest('hex')
}
