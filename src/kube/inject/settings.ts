import { nearest } from '../../policy/nearest.js'
import { isFields } from './fields.js'
import { chooseForm } from './form.js'
import { ANNOTATION_PREFIX, DEFAULT_CONFIG_MAP, INJECTED_ANNOTATION, SETTING_NAMES, type SettingName } from './names.js'
import { type Resources, resourcesOf } from './resources.js'
import type { InjectOptions, Path, PodMeta, PodSpec, Problem, SidecarForm, SidecarPosition } from './types.js'
import { parseUpstreams, type UpstreamAddress } from './upstreams.js'

/** What one pod wants, from its annotations, then from the options, then from the defaults. */
export interface Settings {
  readonly image: string
  readonly configMap: string
  readonly optional: boolean
  readonly upstreams: readonly UpstreamAddress[]
  readonly form: SidecarForm
  readonly position: SidecarPosition
  readonly httpProxy: boolean
  readonly skipContainers: readonly string[]
  readonly resources: Resources
}

/** Says what is wrong with one annotation. */
export type Complain = (name: SettingName, reason: string, suggestion: string) => void

export type Annotated = (name: SettingName) => string | undefined

export function settingsOf(
  podSpec: PodSpec,
  meta: PodMeta,
  options: InjectOptions,
): { readonly settings: Settings; readonly problems: readonly Problem[]; readonly warnings: readonly string[] } {
  const problems: Problem[] = []
  const complain: Complain = (name, reason, suggestion) => problems.push({ path: pathOf(name), reason, suggestion })
  const annotated = reader(meta, complain)
  const chosen = chooseForm(podSpec, annotated, options, complain)
  problems.push(...chosen.problems)
  const settings: Settings = {
    image: word(
      'image',
      annotated('image') ?? options.image,
      IMAGE,
      'an image such as registry.example.com/forbear:1',
      complain,
    ),
    configMap: word(
      'policy-configmap',
      annotated('policy-configmap') ?? options.policyConfigMap ?? DEFAULT_CONFIG_MAP,
      SUBDOMAIN,
      'the name of a ConfigMap in the namespace of the pod',
      complain,
    ),
    optional: truth(annotated, 'optional', complain) ?? false,
    upstreams: parseUpstreams(annotated('upstreams') ?? options.upstreams ?? '', complain),
    form: chosen.form,
    position: choice(annotated, 'position', ['first', 'last'], complain) ?? options.position ?? 'first',
    httpProxy: truth(annotated, 'http-proxy', complain) ?? options.httpProxy ?? false,
    skipContainers: listOf(annotated('skip-containers') ?? ''),
    resources: resourcesOf(annotated, complain),
  }
  return { settings, problems, warnings: strangers(meta) }
}

function pathOf(name: SettingName): Path {
  return ['metadata', 'annotations', ANNOTATION_PREFIX + name]
}

function reader(meta: PodMeta, complain: Complain): Annotated {
  const annotations = isFields(meta.annotations) ? meta.annotations : {}
  return name => {
    const value = annotations[ANNOTATION_PREFIX + name]
    if (value === undefined || typeof value === 'string') return value?.trim()
    complain(name, `an annotation is text, and this is ${JSON.stringify(value)}`, 'put it into quotes')
    return undefined
  }
}

export function choice<Word extends string>(
  annotated: Annotated,
  name: SettingName,
  words: readonly Word[],
  complain: Complain,
): Word | undefined {
  const text = annotated(name)
  const known = words.find(candidate => candidate === text)
  if (text !== undefined && known === undefined)
    complain(name, `"${text}" is none of its words`, `write ${words.join(' or ')}`)
  return known
}

function truth(annotated: Annotated, name: SettingName, complain: Complain): boolean | undefined {
  const text = choice(annotated, name, ['true', 'false'], complain)
  return text === undefined ? undefined : text === 'true'
}

function word(name: SettingName, text: string, form: RegExp, what: string, complain: Complain): string {
  if (!form.test(text)) complain(name, `"${text}" cannot be ${what.replace(/ such as .*/, '')}`, `write ${what}`)
  return text
}

const IMAGE = /^[\w][\w.\-/:@]*$/
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

function listOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter(name => name !== '')
}

/** A misspelt annotation would be a setting that silently does nothing. */
function strangers(meta: PodMeta): readonly string[] {
  const known: readonly string[] = SETTING_NAMES
  return Object.keys(isFields(meta.annotations) ? meta.annotations : {})
    .filter(key => key.startsWith(ANNOTATION_PREFIX) && key !== INJECTED_ANNOTATION)
    .filter(key => !known.includes(key.slice(ANNOTATION_PREFIX.length)))
    .map(key => {
      const near = nearest(key.slice(ANNOTATION_PREFIX.length), known)
      return `the annotation ${key} means nothing${near === null ? '' : `; did you mean ${ANNOTATION_PREFIX}${near}?`}`
    })
}
