import { parseAllDocuments } from 'yaml'

/** Values of a manifest, asserted on field by field. */
export type Loose = any

/** What Kubernetes reads. */
export function objectsIn(text: string): readonly Loose[] {
  const documents = parseAllDocuments(text, { version: '1.1' })
  return Array.isArray(documents) ? documents.map(document => document.toJS()).filter(Boolean) : []
}

export function podIn(text: string): Loose {
  const [object] = objectsIn(text)
  return object.kind === 'Pod' ? object : object.spec.template
}

export const sidecarIn = (text: string): Loose =>
  [...(podIn(text).spec.initContainers ?? []), ...podIn(text).spec.containers].find(({ name }) => name === 'forbear')

/** `{ FORBEAR_URL: … }` of one container. */
export function envOf(text: string, container: string): Readonly<Record<string, string>> {
  const { initContainers = [], containers } = podIn(text).spec
  const found = [...initContainers, ...containers].find(({ name }: Loose) => name === container)
  return Object.fromEntries((found.env ?? []).map(({ name, value }: Loose) => [name, value]))
}
