/** The one place that reads quantiles: `p95`, `p99.9`. */

const SHAPE = /^p([5-9][0-9](?:\.[0-9])?)$/

/** → 0.95, 0.999; `null` for anything else. */
export function parseQuantile(text: string): number | null {
  const percent = SHAPE.exec(text)?.[1]
  return percent === undefined ? null : Math.round(Number(percent) * 10) / 1000
}
