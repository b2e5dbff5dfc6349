/** The candidate that a mistyped word most likely meant, or `null` when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_LENGTH) return null
  const wanted = bare(word)
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3))
  for (const candidate of candidates) {
    const distance = distanceTo(wanted, candidate, bestDistance)
    if (distance < bestDistance || (distance === bestDistance && best === null)) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Names and keys have at most 63. */
const MAX_LENGTH = 64

/** `max_attempts`, `max-attempts` and `MaxAttempts` are the same word in other dress. */
function bare(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '')
}

/** An abbreviation is as near as one slip; a first word left out (`attempts` for `maxAttempts`) costs almost nothing. */
function distanceTo(wanted: string, candidate: string, limit: number): number {
  const whole = bare(candidate)
  if (wanted.length > 2 && whole.startsWith(wanted) && whole !== wanted) return 1
  const tail = candidate.replace(/^[a-z]+(?=[A-Z])/, '')
  const full = editDistance(wanted, whole, limit)
  return tail === candidate ? full : Math.min(full, editDistance(wanted, bare(tail), limit) + 0.5)
}

/** Insertions, deletions, replacements and swaps of neighbours; Infinity where the lengths alone differ by more than `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
