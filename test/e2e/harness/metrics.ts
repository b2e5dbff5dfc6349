/** Reads Prometheus text exposition. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export class Metrics {
  readonly samples: readonly Sample[]

  constructor(readonly text: string) {
    this.samples = text.split('\n').flatMap(parseLine)
  }

  /** Sum over every series of the name whose labels include the given ones; 0 when there is none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels)
    return this.samples
      .filter(sample => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value))
      .reduce((total, sample) => total + sample.value, 0)
  }

  has(name: string): boolean {
    return this.samples.some(sample => sample.name === name)
  }

  /** Name and labels of each series of forbear's own; those of the process come and go (a kind of garbage collection). */
  ownSeries(): string[] {
    const own = this.samples.filter(sample => sample.name.startsWith('forbear_'))
    return own.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`).sort()
  }
}

function parseLine(line: string): Sample[] {
  const match = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line)
  if (!match) return []
  const [, name = '', labelText = '', value = ''] = match
  const labels: Record<string, string> = {}
  for (const [, key = '', text = ''] of labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = text
  return [{ name, labels, value: Number(value.replace('+Inf', 'Infinity')) }]
}
