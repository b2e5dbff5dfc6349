import { describe, expect, it } from 'vitest'
import { lint } from './prom-lint.js'

const family = (name: string, type: string, ...samples: string[]): string =>
  `# HELP ${name} Some help.\n# TYPE ${name} ${type}\n${samples.map(sample => `${sample}\n`).join('')}`

const HISTOGRAM = [
  'forbear_x_seconds_bucket{le="1"} 1',
  'forbear_x_seconds_bucket{le="+Inf"} 2',
  'forbear_x_seconds_sum 3',
  'forbear_x_seconds_count 2',
]

describe('the lint of metrics', () => {
  it('has no word against what is right', () => {
    const text = family('forbear_x_total', 'counter', 'forbear_x_total{a="\\"\\\\\\n"} 1')
    expect(lint(text + family('forbear_x_seconds', 'histogram', ...HISTOGRAM))).toEqual([])
  })

  const wrong: Record<string, readonly [string, RegExp]> = {
    'a counter without _total': [family('forbear_x', 'counter', 'forbear_x 1'), /_total is for counters alone/],
    'a gauge with _total': [family('forbear_x_total', 'gauge', 'forbear_x_total 1'), /_total is for counters alone/],
    milliseconds: [family('forbear_wait_ms', 'gauge', 'forbear_wait_ms 1'), /base unit/],
    'a type in a name': [family('forbear_x_gauge', 'gauge', 'forbear_x_gauge 1'), /type in its name/],
    'a missing TYPE': ['# HELP forbear_x Help.\nforbear_x 1\n', /without HELP and TYPE/],
    'a missing HELP': ['# TYPE forbear_x gauge\nforbear_x 1\n', /out of order/],
    'a family twice': [family('forbear_x', 'gauge').repeat(2), /twice or out of order/],
    'a series twice, labels in another order': [
      family('forbear_x', 'gauge', 'forbear_x{a="1",b="2"} 1', 'forbear_x{b="2",a="1"} 1'),
      /series twice/,
    ],
    'a stray sample': [family('forbear_x', 'gauge', 'forbear_y 1'), /forbear_y is within forbear_x/],
    'an odd escape': [family('forbear_x', 'gauge', 'forbear_x{a="\\t"} 1'), /not a sample/],
    'a trailing comma': [family('forbear_x', 'gauge', 'forbear_x{a="1",} 1'), /not a sample/],
    'a trailing blank': [family('forbear_x', 'gauge', 'forbear_x 1 '), /not a sample/],
    'a label name with a dash': [family('forbear_x', 'gauge', 'forbear_x{a-b="1"} 1'), /not a sample/],
    'no end of the last line': [family('forbear_x', 'gauge', 'forbear_x 1').trimEnd(), /does not end/],
    'a histogram without +Inf': [
      family('forbear_x_seconds', 'histogram', ...HISTOGRAM.filter(line => !line.includes('Inf'))),
      /no \+Inf/,
    ],
    'a _count that is not +Inf': [
      family('forbear_x_seconds', 'histogram', ...HISTOGRAM.slice(0, 3), 'forbear_x_seconds_count 9'),
      /_count is 9/,
    ],
    'buckets that fall': [
      family('forbear_x_seconds', 'histogram', 'forbear_x_seconds_bucket{le="0.5"} 2', ...HISTOGRAM),
      /not cumulative/,
    ],
  }
  it.each(Object.entries(wrong))('finds %s', (_, [text, message]) => {
    expect(lint(text).join('\n')).toMatch(message)
  })
})
