import type { InjectOptions, InjectResult, PodMeta, PodSpec } from './types.js'

/** Pure: the same pod and options give the same result, by whichever door they come. What it is given is not changed. */
export function inject(podSpec: PodSpec, meta: PodMeta | null | undefined, _options: InjectOptions): InjectResult {
  return {
    podSpec,
    meta: meta ?? {},
    edits: [],
    report: { outcome: 'unchanged', added: [], problems: [], warnings: [] },
  }
}
