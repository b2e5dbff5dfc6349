/** A small strict reader of the Prometheus text format: it throws on what a real scraper would refuse. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL},?)*)\\})? (\\S+)$`)
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

export function readPrometheusText(text: string): {
  readonly samples: readonly Sample[]
  readonly types: Map<string, string>
} {
  if (!text.endsWith('\n')) throw new Error('the last line has no newline')
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const seen = new Set<string>()
  const samples: Sample[] = []
  let family = ''
  for (const line of text.split('\n').filter(each => each !== '')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (helps.has(name)) throw new Error(`second HELP of ${name}`)
      helps.add(name)
    } else if (keyword === 'TYPE') {
      if (types.has(name) || !helps.has(name)) throw new Error(`TYPE of ${name} out of place`)
      if (rest === 'counter' && name.startsWith('forbear_') && !name.endsWith('_total'))
        throw new Error(`counter ${name}`)
      types.set(name, rest)
      family = name
    } else {
      const sample = readSample(line)
      const allowed = (SUFFIXES[types.get(family) ?? ''] ?? []).map(suffix => family + suffix)
      if (!allowed.includes(sample.name)) throw new Error(`${sample.name} outside its family (in ${family})`)
      const id = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
      if (seen.has(id)) throw new Error(`series twice: ${line}`)
      seen.add(id)
      samples.push(sample)
    }
  }
  return { samples, types }
}

function readSample(line: string): Sample {
  const match = SAMPLE.exec(line)
  if (match === null) throw new Error(`not a sample: ${line}`)
  const [, name = '', labelText = ''] = match
  const labels = [...labelText.matchAll(new RegExp(LABEL, 'g'))].map(([, key = '', value = '']) => [
    key,
    value.replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char)),
  ])
  const number = line.slice(line.lastIndexOf(' ') + 1)
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number)
  // Prometheus reads NaN in any case; event-loop lag is NaN until it was sampled.
  if (Number.isNaN(value) && !(number === 'Nan' && name.startsWith('nodejs_'))) throw new Error(`not a number: ${line}`)
  return { name, labels: Object.fromEntries(labels), value }
}
