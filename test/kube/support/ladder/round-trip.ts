import { runTool, type Tool } from '../tools.js'
import { type KubeObject, nameOf, templateOf } from './objects.js'
import { quantity } from './quantity.js'

const IMAGE = 'example.com/round-trip:1'

/**
 * What a kubectl's own types do not keep. `set image --local` decodes into the Go structs of its version, so that a
 * wrong type is an error and an unknown field is gone. Objects without a pod have no such command and are left out.
 */
export function lostInRoundTrip(objects: readonly KubeObject[], kubectl: Tool): string[] {
  const workloads = objects.filter(object => templateOf(object) !== undefined)
  if (workloads.length === 0) return []
  try {
    const after = throughTypes(workloads, kubectl)
    return workloads.flatMap((object, index) =>
      missing(object, after[index], '').map(path => `${nameOf(object)}: kubectl ${kubectl.version} loses ${path}`),
    )
  } catch (error) {
    return [`kubectl ${kubectl.version}: ${(error as Error).message}`]
  }
}

/** One process for all: it takes a list and writes one JSON text after the other. */
function throughTypes(workloads: readonly KubeObject[], kubectl: Tool): unknown[] {
  const args = ['set', 'image', '--local', '-f', '-', '-o', 'json', `*=${IMAGE}`]
  const input = { apiVersion: 'v1', kind: 'List', items: workloads }
  const texts = runTool(kubectl, args, JSON.stringify(input)).split(/(?<=^\})\n/m)
  return texts.filter(text => text.trim() !== '').map(text => JSON.parse(text) as unknown)
}

/** Paths of `before` whose value `after` does not have; what `after` has beyond that are defaults. */
function missing(before: unknown, after: unknown, path: string): string[] {
  if (Array.isArray(before)) {
    const items = Array.isArray(after) ? after : []
    return before.flatMap((item, index) => missing(item, items[index], `${path}[${index}]`))
  }
  if (typeof before === 'object' && before !== null) {
    const there = (after ?? {}) as Record<string, unknown>
    return Object.entries(before).flatMap(([key, item]) => missing(item, there[key], `${path}.${key}`))
  }
  return same(before, after) || path.endsWith('.image') ? [] : [path]
}

/** Zero values of Go are left out when they are written, and quantities take their shortest form. */
function same(before: unknown, after: unknown): boolean {
  if (before === after) return true
  if (after === undefined) return before === null || before === false || before === 0 || before === ''
  const number = quantity(before)
  return number !== undefined && number === quantity(after)
}
