import type { Snapshot } from '../core/snapshot.js'
import type { KnownDocuments } from './known-documents.js'
import { knownAfter, type LoadResult, loadDocuments } from './load.js'
import { formatMessage } from './messages.js'
import { readDocuments } from './read-documents.js'
import { readPolicyDirectory } from './source.js'

/** Plain data: it may come from another thread. */
export interface LoadRequest {
  readonly dir: string
  readonly mode: 'all' | 'valid-only'
  /** Of the snapshot to be made. */
  readonly generation: number
  /** Hash in force: with the same text nothing is parsed. */
  readonly knownHash: string
}

/** What a load has to tell. */
export interface Told {
  /** One line each. */
  readonly messages: readonly string[]
  /** Of all documents those whose text was new. */
  readonly documentsParsed?: number
}

/** Plain data. */
export type LoadAnswer =
  | { readonly kind: 'same' }
  | ({ readonly kind: 'whole' | 'partial'; readonly snapshot: Snapshot } & Told)
  /** `hash` tells one mistake from another. */
  | ({ readonly kind: 'unusable'; readonly hash: string } & Told)

/** Loads policies somewhere; rejects when it could not even try, and soon after an abort. */
export type Load = (request: LoadRequest, signal: AbortSignal) => Promise<LoadAnswer>

export interface Loaded {
  readonly answer: LoadAnswer
  /** For the next load; `null` = as before. */
  readonly known: KnownDocuments | null
}

/** Reads, validates and compiles in this thread, synchronously; `known` is asked for only when there is something new. */
export function loadHere(request: LoadRequest, known: () => KnownDocuments): Loaded {
  const source = readPolicyDirectory(request.dir)
  if (source.problems.length === 0 && source.hash === request.knownHash)
    return { answer: { kind: 'same' }, known: null }
  const set = readDocuments(source, known())
  const result = loadDocuments(source, set, request)
  const told = { messages: result.messages.map(formatMessage), documentsParsed: set.parsed }
  return { answer: { ...conclusionOf(result, source.hash), ...told }, known: result.ok ? set.known : knownAfter(set) }
}

function conclusionOf(result: LoadResult, hash: string) {
  if (result.ok) return { kind: 'whole', snapshot: result.snapshot } as const
  if (result.partial !== undefined) return { kind: 'partial', snapshot: result.partial } as const
  return { kind: 'unusable', hash } as const
}
