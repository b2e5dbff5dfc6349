import { isDeepStrictEqual } from 'node:util'
import type { InjectOptions } from '../../../../src/kube/inject/types.js'
import { injectManifest, uninjectManifest } from '../../../../src/kube/manifest/inject-manifest.js'
import type { Tool } from '../tools.js'
import { climb } from './ladder.js'
import { objectsOf } from './objects.js'

/** The last rung: what comes of a manifest can be applied, a second injection changes no byte, and uninject takes all back. */
export function climbInjected(manifest: string, options: InjectOptions, typed?: readonly Tool[]): string[] {
  const once = injectManifest(manifest, 'once.yaml', options)
  if (once.problems.length > 0) return once.problems.map(({ object, reason }) => `${object}: ${reason}`)
  const twice = injectManifest(once.text, 'twice.yaml', options)
  const back = uninjectManifest(once.text, 'back.yaml')
  return [
    ...climb(once.text, typed),
    ...(once.text === manifest ? ['nothing was injected'] : []),
    ...(twice.text === once.text ? [] : ['a second injection changes it']),
    ...(isDeepStrictEqual(objectsOf(back.text), objectsOf(manifest)) ? [] : ['uninject gives another manifest']),
  ]
}
