import { at, isFields, isList, textOf } from '../inject/fields.js'
import type { Path } from '../inject/types.js'

/** Something that runs pods. */
export interface Workload {
  readonly kind: string
  /** `Deployment ops/web`: as it is called in messages. */
  readonly title: string
  /** In the document; not empty for an item of a list. */
  readonly path: Path
  /** To what has `metadata` and `spec` of the pod. */
  readonly base: Path
}

const TEMPLATE: Path = ['spec', 'template']

const WORKLOADS: Readonly<Record<string, { readonly base: Path; readonly group: RegExp }>> = {
  Pod: { base: [], group: /^v1$/ },
  ReplicationController: { base: TEMPLATE, group: /^v1$/ },
  Deployment: { base: TEMPLATE, group: /^(?:apps|extensions)\// },
  StatefulSet: { base: TEMPLATE, group: /^apps\// },
  DaemonSet: { base: TEMPLATE, group: /^(?:apps|extensions)\// },
  ReplicaSet: { base: TEMPLATE, group: /^(?:apps|extensions)\// },
  Job: { base: TEMPLATE, group: /^batch\// },
  CronJob: { base: ['spec', 'jobTemplate', ...TEMPLATE], group: /^batch\// },
}

export interface Found {
  readonly workloads: readonly Workload[]
  /** Titles of what has a pod template, but is of a kind whose shape is not known. */
  readonly strangers: readonly string[]
}

export function workloadsIn(value: unknown): Found {
  const workloads: Workload[] = []
  const strangers: string[] = []
  visit(value, [], '', '')
  return { workloads, strangers }

  function visit(object: unknown, path: Path, listKind: string, listVersion: string): void {
    if (!isFields(object)) return
    const kind = textOf(object.kind) ?? listKind
    const version = textOf(object.apiVersion) ?? listVersion
    if (kind.endsWith('List') && isList(object.items)) {
      const items = object.items
      items.forEach((item, index) => visit(item, [...path, 'items', index], kind.slice(0, -'List'.length), version))
      return
    }
    const known = Object.hasOwn(WORKLOADS, kind) ? WORKLOADS[kind] : undefined
    if (known !== undefined && (version === '' || known.group.test(version))) {
      workloads.push({ kind, title: titleOf(kind, object), path, base: [...path, ...known.base] })
    } else if (isList(at(object, [...TEMPLATE, 'spec', 'containers']))) {
      strangers.push(titleOf(kind, object))
    }
  }
}

function titleOf(kind: string, object: unknown): string {
  const text = (key: string) => textOf(at(object, ['metadata', key]))
  const made = text('generateName')
  const name = text('name') ?? (made === null ? '(without a name)' : `${made}*`)
  const namespace = text('namespace')
  return `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`
}
