/** Which document this is: ours or somebody else's, its kind and its name. */
import { type Finding, type ParsedDocument, valueAt } from './document.js'
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

/** Why the document is none of ours; nothing else in it is judged then. */
export function foreignFinding({ root }: ParsedDocument): Finding | null {
  const wanted = `apiVersion: ${API_VERSION} and kind: ${KINDS.join(' or ')}`
  if (typeof root !== 'object' || root === null || Array.isArray(root)) {
    return { code: 'FB020', path: [], text: `not a document of forbear, which is a mapping with ${wanted}` }
  }
  const apiVersion = valueAt(root, ['apiVersion'])
  const kind = valueAt(root, ['kind'])
  if (apiVersion === API_VERSION) return kindFinding(kind)
  if (apiVersion === undefined && kind === undefined) {
    return {
      code: 'FB020',
      path: [],
      text: `not a document of forbear: it has neither apiVersion nor kind; write ${wanted}`,
    }
  }
  if (apiVersion === undefined || apiVersion === null || isLike(apiVersion)) {
    const said = apiVersion === undefined ? 'apiVersion is missing' : `apiVersion ${quote(apiVersion)} is not known`
    return { code: 'FB021', path: ['apiVersion'], text: `${said}: write ${API_VERSION}` }
  }
  const foreign = `kind ${quote(kind ?? '')} of ${quote(apiVersion)} is not a document of forbear`
  const remedy = kind === 'ConfigMap' ? '; put the files of its data into the directory' : `, which has ${wanted}`
  return { code: 'FB020', path: ['kind'], text: `${foreign}${remedy}` }
}

/** Another version of ours, or ours misspelt. */
function isLike(apiVersion: unknown): boolean {
  return typeof apiVersion === 'string' && /^forbear\b/i.test(apiVersion)
}

function kindFinding(kind: unknown): Finding | null {
  if (KINDS.some(known => known === kind)) return null
  if (kind === undefined) return { code: 'FB022', path: ['kind'], text: `kind is missing: write ${KINDS.join(' or ')}` }
  const text = `kind ${quote(kind)} is not ${KINDS.join(' or ')}`
  return { code: 'FB022', path: ['kind'], text, suggestion: typeof kind === 'string' ? nearest(kind, KINDS) : null }
}
