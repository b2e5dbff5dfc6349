import type { ScopeTally } from './scope-tally.js'
import type { WordCounts } from './tally.js'

/** Since the start, by word, for eyes: what the counters of the same names say in sum over routes. */
export interface Counts {
  /** How requests ended. */
  readonly outcomes: Readonly<Record<string, number>>
  /** Why failures worth another attempt had none. */
  readonly retriesDenied: Readonly<Record<string, number>>
  /** What became of hedges, or why one that was due was not sent. */
  readonly hedges: Readonly<Record<string, number>>
}

export function countsOf(scopes: readonly ScopeTally[]): Counts {
  return {
    outcomes: sumByWord(scopes.map(scope => scope.requests)),
    retriesDenied: sumByWord(scopes.map(scope => scope.denied)),
    hedges: sumByWord(scopes.map(scope => scope.hedges)),
  }
}

function sumByWord(all: readonly WordCounts[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const counts of all) {
    for (const { word, count } of counts.entries()) sums[word] = (sums[word] ?? 0) + count
  }
  return sums
}
