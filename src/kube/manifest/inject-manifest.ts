import { inject } from '../inject/inject.js'
import type { InjectOptions, Path } from '../inject/types.js'
import { uninject } from '../inject/uninject.js'
import { changeManifest, type Target, type Verdict } from './manifest.js'
import type { ManifestResult } from './outcome.js'

export function injectManifest(text: string, file: string, options: InjectOptions): ManifestResult {
  return changeManifest(text, file, target => {
    const { podSpec, meta, workload } = target
    const nulls = nullsIn(target)
    const { edits, report } = inject(podSpec, meta, { ...options, kind: workload.kind, nulls })
    const details = report.outcome === 'skipped' ? ['forbear.dev/inject is "false"'] : report.added
    const { outcome, warnings, problems } = report
    return { outcome, rounds: edits, details, warnings, problems }
  })
}

export function uninjectManifest(text: string, file: string): ManifestResult {
  return changeManifest(text, file, ({ podSpec, meta }): Verdict => {
    const { edits, removed, problems } = uninject(podSpec, meta)
    const changed = edits.length > 0
    const outcome = changed ? 'uninjected' : 'unchanged'
    return { outcome, rounds: changed ? [edits] : [], details: removed, warnings: [], problems }
  })
}

/** Of the collections that an injection may fill. */
function nullsIn({ podSpec, nullAt }: Target): ReadonlyMap<string, string> {
  const paths: Path[] = [['metadata'], ['metadata', 'annotations'], ['spec', 'initContainers'], ['spec', 'volumes']]
  const places = new Map(paths.map(path => [path.join('/'), path]))
  for (const list of ['initContainers', 'containers']) {
    const items = podSpec[list]
    if (!Array.isArray(items)) continue
    for (const [index, item] of items.entries())
      places.set(`spec/${list}/${item?.name}/env`, ['spec', list, index, 'env'])
  }
  const spelled = [...places].map(([place, path]) => [place, nullAt(path)] as const)
  return new Map(spelled.filter((entry): entry is [string, string] => entry[1] !== null))
}
