import { fields, type KubeObject, list, text } from './ladder/objects.js'
import { type LabelSelector, type Labels, selects } from './selector.js'

export interface Call {
  readonly namespace: string
  readonly namespaceLabels?: Labels
  readonly labels?: Labels
  readonly resource: 'pods' | 'configmaps'
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE'
}

/** Names of the webhooks that an API server with these configurations would ask about an object. */
export function calledWebhooks(configurations: readonly KubeObject[], call: Call): string[] {
  const { namespace, namespaceLabels = {}, labels = {}, resource, operation = 'CREATE' } = call
  // Every namespace has this label since Kubernetes 1.22.
  const ofNamespace = { ...namespaceLabels, 'kubernetes.io/metadata.name': namespace }
  return configurations
    .flatMap(configuration => list(configuration['webhooks']))
    .filter(webhook => list(webhook['rules']).some(rule => asksFor(rule, resource, operation)))
    .filter(webhook => selects(webhook['namespaceSelector'] as LabelSelector | undefined, ofNamespace))
    .filter(webhook => selects(webhook['objectSelector'] as LabelSelector | undefined, labels))
    .map(webhook => text(webhook['name']))
}

function asksFor(rule: Record<string, unknown>, resource: string, operation: string): boolean {
  const { resources, operations } = fields(rule)
  return (resources as string[]).includes(resource) && (operations as string[]).includes(operation)
}
