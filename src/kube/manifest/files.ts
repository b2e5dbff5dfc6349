import { readFileSync } from 'node:fs'
import type { ManifestResult } from './outcome.js'

export const STDIN = '-'

export interface ManifestSource {
  readonly file: string
  readonly text: string
}

/** The text, or why there is none. */
export function readManifest(file: string, stdin: Uint8Array | undefined): ManifestSource | { readonly fault: string } {
  const name = file === STDIN ? 'standard input' : file
  try {
    const bytes = file === STDIN ? (stdin ?? new Uint8Array()) : readFileSync(file)
    // A byte order mark stays: every byte that is not ours does.
    return { file: name, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    return { fault: `${name}: ${faultOf(error as NodeJS.ErrnoException)}` }
  }
}

function faultOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR')
    return 'this is a directory: name its files, or render it with kubectl kustomize and pipe that in'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'this is no UTF-8 text'
  return message
}

/** One stream again. A file alone comes out as it is; several are kept apart by separators. */
export function joined(results: readonly ManifestResult[]): string {
  return results.reduce((stream, { text }) => {
    if (stream === '') return text
    const next = text.replace(/^\ufeff/, '')
    const separator = next.startsWith('%') ? '...\n' : next.startsWith('---') ? '' : '---\n'
    return `${stream}${stream.endsWith('\n') ? '' : '\n'}${separator}${next}`
  }, '')
}
