import type { Snapshot } from '../core/snapshot.js'
import { loadPolicies } from './load.js'
import { formatMessage } from './messages.js'
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

/** Plain data; messages are one line each. */
export type LoadAnswer =
  | { readonly kind: 'same' }
  | { readonly kind: 'whole' | 'partial'; readonly snapshot: Snapshot; readonly messages: readonly string[] }
  /** `hash` tells one mistake from another. */
  | { readonly kind: 'unusable'; readonly hash: string; readonly messages: readonly string[] }

/** Loads policies somewhere; rejects when it could not even try, and soon after an abort. */
export type Load = (request: LoadRequest, signal: AbortSignal) => Promise<LoadAnswer>

/** Reads, validates and compiles in this thread, synchronously. */
export function loadHere({ dir, mode, generation, knownHash }: LoadRequest): LoadAnswer {
  const source = readPolicyDirectory(dir)
  if (source.problem === null && source.hash === knownHash) return { kind: 'same' }
  const result = loadPolicies(source, { mode, generation })
  const messages = result.messages.map(formatMessage)
  if (result.ok) return { kind: 'whole', snapshot: result.snapshot, messages }
  if (result.partial !== undefined) return { kind: 'partial', snapshot: result.partial, messages }
  return { kind: 'unusable', hash: source.hash, messages }
}
