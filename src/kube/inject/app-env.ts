import { at, fieldsIn, textOf } from './fields.js'
import { ends } from './form.js'
import { PROXY_URL, QUIT_URL } from './names.js'
import type { Settings } from './settings.js'
import type { Fields, InjectOptions, Path, PodSpec, Problem } from './types.js'

export interface EnvVariable {
  readonly name: string
  readonly value: string
}

/** One container of the user's that is told where forbear is. */
export interface AppContainer {
  readonly list: 'containers' | 'initContainers'
  readonly index: number
  readonly name: string
  readonly fields: Fields
}

export interface EnvPlan {
  readonly variables: readonly EnvVariable[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Init containers run before a classic sidecar does, and before a native one that is last: to those it is of no use. */
export function appContainers(podSpec: PodSpec, settings: Settings): readonly AppContainer[] {
  const reachesInit = settings.form === 'native' && settings.position === 'first'
  const lists = reachesInit ? (['initContainers', 'containers'] as const) : (['containers'] as const)
  return lists
    .flatMap(list =>
      fieldsIn(podSpec[list]).map((fields, index) => ({ list, index, name: textOf(fields.name) ?? '', fields })),
    )
    .filter(({ name }) => !settings.skipContainers.includes(name))
}

/** Before the entries of the user, so that those may refer to it: `$(FORBEAR_URL)`. */
export function envFor(container: AppContainer, podSpec: PodSpec, settings: Settings, options: InjectOptions): EnvPlan {
  const own = new Map(
    fieldsIn(container.fields.env).map((entry, index) => [textOf(entry.name) ?? '', { entry, index }]),
  )
  const problems: Problem[] = []
  const variables = addresses(podSpec, settings, options).filter(({ name, value }) => {
    const theirs = own.get(name)
    if (theirs === undefined) return true
    if (theirs.entry.value !== value) problems.push(clash(container, name, value, theirs.index))
    return false
  })
  const proxy = settings.httpProxy ? proxyVariables(container, own) : { variables: [], warnings: [] }
  const added = [...variables, ...proxy.variables]
  return { variables: added, problems, warnings: [...proxy.warnings, ...hidden(container, added)] }
}

function addresses(podSpec: PodSpec, settings: Settings, options: InjectOptions): readonly EnvVariable[] {
  const quits = settings.form === 'classic' && ends(podSpec, options)
  return [
    { name: 'FORBEAR_URL', value: PROXY_URL },
    ...(quits ? [{ name: 'FORBEAR_QUIT_URL', value: QUIT_URL }] : []),
    ...settings.upstreams.map(({ variable, url }) => ({ name: variable, value: url })),
  ]
}

function clash({ list, index, name }: AppContainer, variable: string, value: string, entry: number): Problem {
  const path: Path = ['spec', list, index, 'env', entry]
  return {
    path,
    reason: `the container ${name} sets ${variable} itself, and calls by it would pass forbear by`,
    suggestion: `remove it, set it to ${value}, or name the container in forbear.dev/skip-containers`,
  }
}

/** What a ConfigMap or Secret sets cannot be seen from here. */
function hidden({ name, fields }: AppContainer, added: readonly EnvVariable[]): readonly string[] {
  const names = added.map(variable => variable.name).filter(variable => variable !== 'FORBEAR_URL')
  if (names.length === 0 || fieldsIn(at(fields, ['envFrom'])).length === 0) return []
  return [`${name} has envFrom: should it set ${names.join(', ')} there, that loses against what is added`]
}

/** Clients differ in which spelling they read. What the user set in either is the user's. */
function proxyVariables(
  { name: container }: AppContainer,
  own: ReadonlyMap<string, unknown>,
): Pick<EnvPlan, 'variables' | 'warnings'> {
  const free = PROXY_VARIABLES.filter(({ names }) => !names.some(name => own.has(name)))
  const kept = PROXY_VARIABLES.filter(({ names }) => names.some(name => own.has(name)))
  const warnings = kept.map(({ names }) => `${container} sets ${names.find(name => own.has(name))} itself: it stays`)
  // Beside a proxy of theirs, exceptions of ours would let calls pass it by.
  if (own.has('HTTP_PROXY') || own.has('http_proxy')) return { variables: [], warnings }
  return { variables: free.flatMap(({ names, value }) => names.map(name => ({ name, value }))), warnings }
}

const PROXY_VARIABLES = [
  { names: ['HTTP_PROXY', 'http_proxy'], value: PROXY_URL },
  {
    names: ['NO_PROXY', 'no_proxy'],
    // The kubelet fills in the address of the API server.
    value: 'localhost,127.0.0.1,::1,169.254.169.254,kubernetes.default.svc,$(KUBERNETES_SERVICE_HOST)',
  },
] as const
