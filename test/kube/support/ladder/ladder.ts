import { kubectls, type Tool } from '../tools.js'
import { checkModel } from './models.js'
import { type KubeObject, nameOf, objectsOf, repeated } from './objects.js'
import { breaksOwnRules } from './own-rules.js'
import { lostInRoundTrip } from './round-trip.js'
import { walkTyped } from './typed-walk.js'

/** Native sidecars are kept whole from here on; older types know no `restartPolicy` of a container. */
const FIRST_WHOLE_MINOR = 29

/** Kinds that the API server takes from a definition of somebody else's: checked by a test of their own. */
const FOREIGN_GROUPS = ['cert-manager.io/', 'monitoring.coreos.com/', 'kustomize.config.k8s.io/']

let found: Tool[] | undefined
export function wholeKubectls(): Tool[] {
  found ??= kubectls().filter(({ minor }) => minor >= FIRST_WHOLE_MINOR)
  return found
}

/** Everything wrong with a stream of manifests, an empty list when it can be applied. */
export function climb(manifests: string | readonly KubeObject[], typed: readonly Tool[] = wholeKubectls()): string[] {
  const objects = typeof manifests === 'string' ? objectsOf(manifests) : manifests
  const names = objects.map(
    object => `${object.apiVersion} ${nameOf(object)} ${String(object.metadata?.['namespace'])}`,
  )
  return [
    ...(objects.length === 0 ? ['there is no object'] : []),
    ...repeated(names).map(name => `${name} twice`),
    ...objects.flatMap(object => climbOne(object).map(problem => `${nameOf(object)}: ${problem}`)),
    ...typed.flatMap(kubectl => lostInRoundTrip(objects, kubectl)),
  ]
}

function climbOne(object: KubeObject): string[] {
  const isForeign = FOREIGN_GROUPS.some(group => object.apiVersion.startsWith(group))
  return [...(isForeign ? [] : [...walkTyped(object), ...checkModel(object)]), ...breaksOwnRules(object)]
}
