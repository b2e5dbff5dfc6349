/** Documents that stand one under the other without the line between them. */
import type { Finding } from './document.js'

const TOP = new Set<unknown>(['apiVersion', 'kind', 'metadata', 'spec'])

/** Several keys of the top twice are one mistake for each document that was meant to begin there. */
export function withoutMark(findings: readonly Finding[], lineOf: (offset: number) => number): Finding[] {
  const isTwice = ({ code, path }: Finding) => code === 'FB011' && path.length === 1 && TOP.has(path[0])
  const twice = findings.filter(isTwice)
  const first = twice[0]
  if (first === undefined || new Set(twice.map(({ path }) => path[0])).size < 2) return [...findings]
  return findings.flatMap((finding): Finding[] => {
    if (!isTwice(finding)) return [finding]
    if (finding.path[0] !== first.path[0] || typeof finding.mark !== 'object') return []
    const text = `another document begins here: --- is missing before line ${lineOf(finding.mark.start)}`
    return [{ ...finding, path: [], text }]
  })
}
