/** Prometheus text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/). */
import type { Histogram } from './tally.js'

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export class Exposition {
  #text = ''

  family(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): void {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  }

  /** `labelText` as `labels` writes it; may be empty. */
  sample(name: string, labelText: string, value: number): void {
    this.#text += labelText === '' ? `${name} ${number(value)}\n` : `${name}{${labelText}} ${number(value)}\n`
  }

  histogram(name: string, labelText: string, { bounds, buckets, sum, count }: Histogram): void {
    let below = 0
    for (const [slot, bound] of bounds.entries()) {
      below += buckets[slot] ?? 0
      this.sample(`${name}_bucket`, `${labelText},le="${bound}"`, below)
    }
    this.sample(`${name}_bucket`, `${labelText},le="+Inf"`, count)
    this.sample(`${name}_sum`, labelText, sum)
    this.sample(`${name}_count`, labelText, count)
  }

  text(): string {
    return this.#text
  }
}

export function labels(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(',')
}

function escape(value: string): string {
  return value.replace(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
