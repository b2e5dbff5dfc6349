import { fieldsIn, textOf } from './fields.js'
import type { Fields, Path, PodSpec } from './types.js'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** All that run in the pod, whenever they do. */
export function containersOf(
  podSpec: PodSpec,
): readonly { readonly path: Path; readonly name: string; readonly fields: Fields }[] {
  return LISTS.flatMap(list =>
    fieldsIn(podSpec[list]).map((fields, index) => ({
      path: ['spec', list, index],
      name: textOf(fields.name) ?? '',
      fields,
    })),
  )
}
