/** Which document this is: ours or somebody else's, its kind and its name. */
import { type Finding, type ParsedDocument, type Path, valueAt } from './document.js'
import { foreignKindText, truthWordText, unkindText } from './foreign-documents.js'
import { nearest } from './nearest.js'
import { quote } from './schema-words.js'

const API_VERSION = 'forbear.dev/v1alpha1'
const KINDS = ['Upstream', 'Policy'] as const
export type Kind = (typeof KINDS)[number]

export interface Identity {
  readonly kind: Kind | null
  /** As written, valid or not. */
  readonly name: string | null
}

export function identityOf({ root }: ParsedDocument): Identity {
  const name = valueAt(root, ['metadata', 'name'])
  const kind = KINDS.find(known => known === valueAt(root, ['kind'])) ?? null
  return { kind, name: typeof name === 'string' ? name : null }
}

/** What is wrong with `apiVersion` and `kind`; `judged` is whether the rest can be looked at nevertheless. */
export function identityFindings(document: ParsedDocument): { findings: readonly Finding[]; judged: boolean } {
  const { root } = document
  const wanted = `apiVersion: ${API_VERSION} and kind: ${KINDS.join(' or ')}`
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return foreign([], plainText(root, wanted))
  const apiVersion = valueAt(root, ['apiVersion'])
  const kind = valueAt(root, ['kind'])
  const misspelt = ['apiVersion', 'kind'].flatMap(key => misspeltKey(root, key))
  if (apiVersion === undefined && kind === undefined && misspelt.length === 0) {
    const known = unkindText(root)
    const hint = [known, known === null ? null : truthWordText(document)].filter(text => text !== null).join('; ')
    const text = `not a document of forbear: it has neither apiVersion nor kind${hint === '' ? '' : `; ${hint}`}; write ${wanted}`
    return foreign([], text)
  }
  if (apiVersion !== undefined && apiVersion !== null && !isLike(apiVersion, kind)) {
    const what = `kind ${quote(kind ?? '')} of ${quote(apiVersion)} is not a document of forbear`
    const remedy = foreignKindText(root, kind)
    return foreign(['kind'], remedy === null ? `${what}, which has ${wanted}` : `${what}; ${remedy}`)
  }
  const about = ['apiVersion', 'kind'].filter(key => !misspelt.some(({ suggestion }) => suggestion === key))
  const findings = [
    ...misspelt,
    ...(about.includes('apiVersion') ? versionFindings(apiVersion) : []),
    ...(about.includes('kind') ? kindFindings(kind) : []),
  ]
  return { findings, judged: KINDS.some(known => known === kind) }
}

function foreign(path: Path, text: string) {
  return { findings: [{ code: 'FB020', path, text } as const], judged: false }
}

/** `kind:Upstream` on every line makes one text of the whole document. */
function plainText(root: unknown, wanted: string): string {
  const glued = typeof root === 'string' ? /^(apiVersion|kind|metadata|spec):\S/.exec(root)?.[1] : undefined
  const hint = glued === undefined ? '' : `; a space is missing after the colon of ${glued}`
  return `not a document of forbear, which is a mapping with ${wanted}${hint}`
}

/** `Kind`, `apiversion`, `api_version`. */
function misspeltKey(root: object, wanted: string): Finding[] {
  if (Object.hasOwn(root, wanted)) return []
  const key = Object.keys(root).find(
    own => !TOP.has(own) && Math.abs(own.length - wanted.length) < 3 && nearest(own, [wanted]) !== null,
  )
  if (key === undefined) return []
  return [{ code: 'FB030', path: [key], mark: 'key', text: `unknown key ${quote(key)}`, suggestion: wanted }]
}

const TOP = new Set(['apiVersion', 'kind', 'metadata', 'spec'])

function versionFindings(apiVersion: unknown): Finding[] {
  if (apiVersion === API_VERSION) return []
  if (apiVersion === null)
    return [{ code: 'FB021', path: ['apiVersion'], text: `apiVersion is empty: write ${API_VERSION}` }]
  const said = apiVersion === undefined ? 'apiVersion is missing' : `apiVersion ${quote(apiVersion)} is not known`
  return [{ code: 'FB021', path: ['apiVersion'], text: `${said}: write ${API_VERSION}` }]
}

/** Another version of ours, or ours misspelt. */
function isLike(apiVersion: unknown, kind: unknown): boolean {
  if (typeof apiVersion !== 'string') return false
  if (/^v\d\w*$/.test(apiVersion) && KINDS.some(known => known === kind)) return true
  return /^forbear\b/i.test(apiVersion) || nearest(apiVersion, [API_VERSION]) !== null
}

function kindFindings(kind: unknown): Finding[] {
  if (KINDS.some(known => known === kind)) return []
  if (kind === undefined) {
    return [{ code: 'FB022', path: ['kind'], text: `kind is missing: write ${KINDS.join(' or ')}` }]
  }
  const text = `kind ${quote(kind)} is not ${KINDS.join(' or ')}`
  return [{ code: 'FB022', path: ['kind'], text, suggestion: typeof kind === 'string' ? nearest(kind, KINDS) : null }]
}
