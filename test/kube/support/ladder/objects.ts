import { parseAllDocuments } from 'yaml'

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: Record<string, unknown>
  readonly [field: string]: unknown
}

export type Fields = Record<string, unknown>

export interface PodTemplate {
  readonly metadata: Fields
  readonly spec: Fields
}

/** Where each kind keeps its pod. */
const TEMPLATE_PATHS: Record<string, readonly string[]> = {
  Pod: [],
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
}

/** The objects of a stream as an API server reads it (YAML 1.1), lists unfolded, empty documents left out. */
export function objectsOf(text: string): KubeObject[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap(document => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    const object = document.toJS() as KubeObject | null
    return object === null ? [] : unfold(object)
  })
}

function unfold(object: KubeObject): KubeObject[] {
  return object.kind.endsWith('List') ? (object['items'] as KubeObject[]).flatMap(unfold) : [object]
}

export function templateOf(object: KubeObject): PodTemplate | undefined {
  const path = TEMPLATE_PATHS[object.kind]
  if (path === undefined) return undefined
  const template = path.reduce<unknown>((value, key) => fields(value)[key], object)
  return { metadata: fields(fields(template)['metadata']), spec: fields(fields(template)['spec']) }
}

export function nameOf(object: KubeObject): string {
  return `${object.kind} ${String(fields(object.metadata)['name'])}`
}

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}

export function repeated(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index)
}
