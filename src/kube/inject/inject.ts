import { type Addition, editsOf, recordEntry } from './additions.js'
import { type AppContainer, appContainers, envFor } from './app-env.js'
import { applyEdits, type Pod } from './apply-edits.js'
import { clashesOf } from './clashes.js'
import { covers } from './covers.js'
import { at } from './fields.js'
import { NATIVE_SINCE } from './form.js'
import {
  CONTAINER_NAME,
  DEFAULT_CONTAINER_ANNOTATION,
  INJECT_LABEL,
  INJECTED_ANNOTATION,
  VOLUME_NAME,
} from './names.js'
import { decodeRecord, encodeRecord, isInjected } from './record.js'
import { type Settings, settingsOf } from './settings.js'
import { shapeProblems } from './shape.js'
import { policyVolume, sidecarContainer } from './sidecar.js'
import type { InjectOptions, InjectResult, PodMeta, PodSpec, Problem } from './types.js'
import { nullsOf, uninject } from './uninject.js'
import { warningsOf } from './warnings.js'

/**
 * Pure: the same pod and options give the same result, by whichever door they come. What it is given is not changed.
 * A pod that was injected before is injected anew, and comes out as it was unless something has changed since.
 */
export function inject(podSpec: PodSpec, meta: PodMeta | null | undefined, options: InjectOptions): InjectResult {
  const label = at(meta, ['labels', INJECT_LABEL])
  if (label !== undefined && String(label) !== 'true') return untouched(podSpec, meta, labelled(label))
  if (!isInjected(meta)) return injectFresh(podSpec, meta, options)
  const { by } = decodeRecord(meta) ?? {}
  if (options.by === 'webhook' && by !== 'webhook') return untouched(podSpec, meta, UNCHANGED)
  const before = uninject(podSpec, meta)
  if (before.problems.length > 0) return untouched(podSpec, meta, refusal(before.problems))
  const nulls = new Map([...(options.nulls ?? []), ...nullsOf(decodeRecord(meta))])
  const after = injectFresh(before.podSpec, before.meta, { ...options, nulls })
  if (after.report.outcome !== 'injected') return { ...untouched(podSpec, meta, after.report) }
  if (covers(podSpec, after.podSpec) && covers(meta, after.meta)) {
    return untouched(podSpec, meta, { ...after.report, outcome: 'unchanged', added: [] })
  }
  return { ...after, edits: [before.edits, ...after.edits] }
}

function untouched(podSpec: PodSpec, meta: PodMeta | null | undefined, report: InjectResult['report']): InjectResult {
  return { podSpec, meta: meta ?? {}, edits: [], report }
}

const UNCHANGED: InjectResult['report'] = { outcome: 'unchanged', added: [], problems: [], warnings: [] }

function labelled(label: unknown): InjectResult['report'] {
  if (String(label) === 'false') return { outcome: 'skipped', added: [], problems: [], warnings: [] }
  const reason = `the label ${INJECT_LABEL} is ${JSON.stringify(label)}`
  return refusal([{ path: ['metadata', 'labels', INJECT_LABEL], reason, suggestion: 'write "true" or "false"' }])
}

function refusal(problems: readonly Problem[], warnings: readonly string[] = []): InjectResult['report'] {
  return { outcome: 'refused', added: [], problems, warnings }
}

function injectFresh(podSpec: PodSpec, meta: PodMeta | null | undefined, options: InjectOptions): InjectResult {
  const shape = shapeProblems(podSpec, meta ?? {}, options)
  if (shape.length > 0) return untouched(podSpec, meta, refusal(shape))
  const { settings, problems: mistakes, warnings: strange } = settingsOf(podSpec, meta ?? {}, options)
  const apps = appContainers(podSpec, settings).map(app => ({ app, ...envFor(app, podSpec, settings, options) }))
  const problems = [
    ...mistakes,
    ...clashesOf(podSpec, meta ?? {}, settings, options),
    ...apps.flatMap(app => app.problems),
  ]
  const warnings = [...strange, ...warningsOf(podSpec, settings), ...apps.flatMap(app => app.warnings)]
  if (problems.length > 0) return untouched(podSpec, meta, refusal(problems, warnings))

  const pod: Pod = { ...(meta === undefined ? {} : { metadata: meta }), spec: podSpec }
  const additions = [
    ...podAdditions(podSpec, settings),
    ...apps.flatMap(({ app, variables }) => envAddition(app, variables)),
  ]
  const all = [...additions, annotationAddition(pod, additions, settings, options)]
  const edits = editsOf(pod, all)
  const { spec, metadata } = applyEdits(pod, edits)
  const report = {
    outcome: 'injected',
    form: settings.form,
    added: phrases(settings, apps),
    problems,
    warnings,
  } as const
  return { podSpec: spec, meta: metadata ?? {}, edits: [edits], report }
}

function podAdditions(podSpec: PodSpec, settings: Settings): readonly Addition[] {
  const list = settings.form === 'native' ? 'initContainers' : 'containers'
  const position = settings.form === 'native' ? settings.position : 'first'
  return [
    {
      path: ['spec', list],
      place: `spec/${list}`,
      names: [CONTAINER_NAME],
      content: { items: [sidecarContainer(podSpec, settings)], at: position },
    },
    {
      path: ['spec', 'volumes'],
      place: 'spec/volumes',
      names: [VOLUME_NAME],
      content: { items: [policyVolume(settings)], at: 'first' },
    },
  ]
}

function envAddition(
  { list, index, name }: AppContainer,
  variables: readonly { readonly name: string }[],
): readonly Addition[] {
  if (variables.length === 0) return []
  const content = { items: variables, at: 'first' } as const
  const names = variables.map(variable => variable.name)
  return [{ path: ['spec', list, index, 'env'], place: `spec/${list}/${name}/env`, names, content }]
}

/** Last: it tells of the others, and of itself. */
function annotationAddition(
  pod: Pod,
  others: readonly Addition[],
  { form }: Settings,
  { nulls, by }: InjectOptions,
): Addition {
  const path = ['metadata', 'annotations']
  const addition = (entries: Readonly<Record<string, string>>): Addition => ({
    path,
    place: path.join('/'),
    names: Object.keys(entries),
    content: { entries },
  })
  // Else `kubectl logs` and `kubectl exec` would take the first container, which is no longer the app.
  const usesFirst = form === 'classic' && at(pod, [...path, DEFAULT_CONTAINER_ANNOTATION]) === undefined
  const extra = usesFirst ? { [DEFAULT_CONTAINER_ANNOTATION]: String(at(pod, ['spec', 'containers', 0, 'name'])) } : {}
  const unsigned = addition({ [INJECTED_ANNOTATION]: '', ...extra })
  const added = [...others, unsigned].map(one => recordEntry(pod, one, nulls ?? new Map()))
  return addition({
    [INJECTED_ANNOTATION]: encodeRecord({ form, ...(by === undefined ? {} : { by }), added }),
    ...extra,
  })
}

function phrases(settings: Settings, apps: readonly { app: AppContainer; variables: readonly { name: string }[] }[]) {
  const needs = settings.form === 'native' ? ` (Kubernetes ${NATIVE_SINCE} or later)` : ''
  const kind = settings.form === 'native' ? 'native sidecar' : 'container'
  return [
    `${kind} ${CONTAINER_NAME}${needs}`,
    `volume ${VOLUME_NAME} of ConfigMap ${settings.configMap}`,
    ...apps
      .filter(({ variables }) => variables.length > 0)
      .map(({ app, variables }) => `env ${variables.map(({ name }) => name).join(', ')} in ${app.name}`),
  ]
}
