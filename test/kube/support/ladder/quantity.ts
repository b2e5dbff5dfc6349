const FACTORS: Record<string, number> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/** The number a Kubernetes quantity stands for; none where the API server would refuse it. */
export function quantity(value: unknown): number | undefined {
  const [, digits, suffix] = /^(\d+(?:\.\d*)?|\.\d+)([A-Za-z]*|[eE][+-]?\d+)$/.exec(String(value)) ?? []
  if (digits === undefined || suffix === undefined) return undefined
  const factor = /^[eE][+-]?\d+$/.test(suffix) ? Number(`1${suffix}`) : FACTORS[suffix]
  return factor === undefined ? undefined : Number(digits) * factor
}
