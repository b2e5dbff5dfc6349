import type { Annotated, Complain } from './settings.js'
import type { Fields } from './types.js'

/** `resources` of the container. */
export interface Resources {
  readonly requests: Fields
  readonly limits: Fields
}

export const DEFAULT_CPU_REQUEST = '50m'
export const DEFAULT_MEMORY_REQUEST = '96Mi'
export const DEFAULT_MEMORY_LIMIT = '256Mi'

/** No limit of CPU unless asked for: a throttled loop makes late timers, and late timers make wrong decisions. */
export function resourcesOf(annotated: Annotated, complain: Complain): Resources {
  const read = (name: QuantityName, fallback?: string) => {
    const text = annotated(name)
    if (text === undefined || quantity(text) !== null) return text ?? fallback
    complain(name, `"${text}" is no quantity`, `write one such as ${EXAMPLES[name]}`)
    return fallback
  }
  const cpu = read('cpu-request', DEFAULT_CPU_REQUEST) as string
  const memory = read('memory-request', DEFAULT_MEMORY_REQUEST) as string
  const cpuLimit = read('cpu-limit')
  const memoryLimit = read('memory-limit', DEFAULT_MEMORY_LIMIT) as string
  refuseAbove('cpu-request', cpu, cpuLimit, complain)
  refuseAbove('memory-request', memory, memoryLimit, complain)
  return {
    requests: { cpu, memory },
    limits: cpuLimit === undefined ? { memory: memoryLimit } : { cpu: cpuLimit, memory: memoryLimit },
  }
}

type QuantityName = 'cpu-request' | 'memory-request' | 'cpu-limit' | 'memory-limit'

const EXAMPLES = {
  'cpu-request': '50m',
  'memory-request': '96Mi',
  'cpu-limit': '500m',
  'memory-limit': '256Mi',
} as const

function refuseAbove(
  name: 'cpu-request' | 'memory-request',
  request: string,
  limit: string | undefined,
  complain: Complain,
) {
  if (limit === undefined || (quantity(request) ?? 0) <= (quantity(limit) ?? 0)) return
  const limitName = name === 'cpu-request' ? 'cpu-limit' : 'memory-limit'
  complain(
    name,
    `the request ${request} is above the limit ${limit}`,
    `set forbear.dev/${limitName} to at least ${request}`,
  )
}

/** Of Kubernetes: `50m`, `0.5`, `96Mi`, `1e3`. */
export function quantity(text: string): number | null {
  const [, number, suffix] = /^(\d+(?:\.\d*)?|\.\d+)(m|[kMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(text) ?? []
  if (number === undefined) return null
  if (suffix === undefined) return Number(number)
  return Number(number) * (SUFFIXES[suffix] ?? Number(`1${suffix}`))
}

const SUFFIXES: Readonly<Record<string, number>> = {
  m: 1e-3,
  ...Object.fromEntries([...'kMGTPE'].map((letter, power) => [letter, 1000 ** (power + 1)])),
  ...Object.fromEntries([...'KMGTPE'].map((letter, power) => [`${letter}i`, 1024 ** (power + 1)])),
}
