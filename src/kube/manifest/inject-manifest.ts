import { inject } from '../inject/inject.js'
import { INJECTED_ANNOTATION } from '../inject/names.js'
import type { InjectOptions, Path } from '../inject/types.js'
import { uninject } from '../inject/uninject.js'
import { changeManifest, FAILURES, type Target, type Verdict } from './manifest.js'
import type { ManifestResult } from './outcome.js'

/** What could not be taken out again byte for byte is not put in. */
export function injectManifest(text: string, file: string, options: InjectOptions): ManifestResult {
  const injected = injectedManifest(text, file, options)
  if (injected.problems.length > 0 || injected.text === text) return injected
  const back = uninjectManifest(injected.text, file)
  const clean = text.includes(INJECTED_ANNOTATION) ? uninjectManifest(text, file).text : text
  if (back.problems.length === 0 && back.text === clean) return injected
  const changed = injected.objects.filter(({ outcome }) => outcome === 'injected')
  return {
    ...injected,
    text: '',
    problems: changed.map(({ line, object }) => ({ file, line, object, ...FAILURES.unwritable })),
  }
}

function injectedManifest(text: string, file: string, options: InjectOptions): ManifestResult {
  return changeManifest(text, file, target => {
    const { podSpec, meta, workload, ownerLabel, claims } = target
    if (ownerLabel === 'false') return SKIPPED
    const { edits, report } = inject(podSpec, meta, { ...options, kind: workload.kind, claims, nulls: nullsIn(target) })
    if (report.outcome === 'skipped') return SKIPPED
    const { outcome, added: details, problems } = report
    return { outcome, rounds: edits, details, warnings: [...owned(target), ...report.warnings], problems }
  })
}

/** As in what `kubectl get` shows of a running cluster. */
function owned({ controller }: Target): readonly string[] {
  if (controller === null) return []
  return [`${controller} made it, and makes the next one without forbear: inject that one instead`]
}

const SKIPPED: Verdict = {
  outcome: 'skipped',
  rounds: [],
  details: ['its label forbear.dev/inject is "false"'],
  warnings: [],
  problems: [],
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
