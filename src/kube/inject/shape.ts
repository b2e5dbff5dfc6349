import { isFields, isList, textOf } from './fields.js'
import type { InjectOptions, Path, PodMeta, PodSpec, Problem } from './types.js'

/** What must hold before anything else can be asked of a pod. */
export function shapeProblems(podSpec: PodSpec, meta: PodMeta, options: InjectOptions): readonly Problem[] {
  const problems: Problem[] = []
  const complain = (path: Path, reason: string, suggestion: string) => problems.push({ path, reason, suggestion })
  for (const key of ['labels', 'annotations'] as const) {
    if (!isAbsent(meta[key]) && !isFields(meta[key]))
      complain(['metadata', key], `${key} is no map`, 'write key: "value"')
  }
  for (const list of ['containers', 'initContainers', 'volumes', 'ephemeralContainers'] as const) {
    const value = podSpec[list]
    if (isAbsent(value) && list !== 'containers') continue
    if (!isList(value) || (list === 'containers' && value.length === 0)) {
      complain(
        ['spec', list],
        isAbsent(value) ? `there are no ${list}` : `${list} is not a list with something in it`,
        'see whether the indentation is right',
      )
      continue
    }
    value.forEach((item, index) => complainOfItem(item, ['spec', list, index], complain))
  }
  if (problems.length === 0) twins(podSpec, complain)
  complainOfRestartPolicy(podSpec, options, complain)
  return problems
}

type Complain = (path: Path, reason: string, suggestion: string) => void

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

function complainOfItem(item: unknown, path: Path, complain: Complain): void {
  if (!isFields(item)) complain(path, 'this item is no map', 'see whether the indentation is right')
  else if (isAbsent(item.name) || item.name === '') complain(path, 'this item has no name', 'give it one')
  else if (textOf(item.name) === null)
    complain([...path, 'name'], `this name is read as ${JSON.stringify(item.name)}`, 'put it into quotes')
  else if (!isAbsent(item.env) && !isList(item.env))
    complain([...path, 'env'], 'env is no list', 'write a list of name and value')
}

function twins(podSpec: PodSpec, complain: Complain): void {
  const seen = new Set<string>()
  for (const list of ['initContainers', 'containers'] as const) {
    const items = isList(podSpec[list]) ? podSpec[list] : []
    items.forEach((item, index) => {
      const name = isFields(item) ? String(item.name) : ''
      if (seen.has(name)) complain(['spec', list, index], `two containers are called ${name}`, 'rename one of them')
      seen.add(name)
    })
  }
}

const RUNS_FOR_EVER = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController']

function complainOfRestartPolicy(
  { restartPolicy }: PodSpec,
  { kind = 'Pod' }: InjectOptions,
  complain: Complain,
): void {
  if (isAbsent(restartPolicy)) return
  const allowed = RUNS_FOR_EVER.includes(kind)
    ? ['Always']
    : kind === 'Pod'
      ? ['Always', 'OnFailure', 'Never']
      : ['OnFailure', 'Never']
  if (allowed.some(word => word === restartPolicy)) return
  complain(
    ['spec', 'restartPolicy'],
    `a ${kind} cannot have restartPolicy ${JSON.stringify(restartPolicy)}`,
    `write ${allowed.join(' or ')}`,
  )
}
