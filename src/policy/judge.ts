/** One document on its own: every mistake in it, and whether it can be used. */
import type { ErrorObject } from 'ajv'
import { CODES } from './codes.js'
import { type Finding, message, type ParsedDocument, type Path, pathText } from './document.js'
import { documentFindings } from './document-rules.js'
import { formatFindings } from './field-formats.js'
import { validatePolicy, validateUpstream } from './generated/validators.js'
import { type Identity, identityFindings, identityOf, type Kind } from './identity.js'
import type { PolicyMessage } from './messages.js'
import { isFaulty, WHOLE } from './overlay.js'
import { schemaFindings } from './schema-findings.js'
import { blameVariable, variableFindings } from './variables.js'
import { MOST_ERRORS } from './yaml-stream.js'

export interface JudgedDocument extends Identity {
  readonly document: ParsedDocument
  readonly messages: readonly PolicyMessage[]
  /** Paths with an error. */
  readonly faults: ReadonlySet<string>
  readonly valid: boolean
}

interface Validator {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

const VALIDATORS: Readonly<Record<Kind, Validator>> = {
  Upstream: validateUpstream as unknown as Validator,
  Policy: validatePolicy as unknown as Validator,
}

export function judgeDocument(document: ParsedDocument): JudgedDocument {
  const identity = identityOf(document)
  const found = document.readable ? findingsOf(document, identity) : []
  const findings = found.map(finding => blameVariable(document, finding))
  const errors = findings.filter(({ code }) => CODES[code].severity === 'error')
  // Beyond the last that is told there may be more.
  const isTold = document.readable && errors.length < MOST_ERRORS
  return {
    ...identity,
    document,
    messages: findings.map(finding => message(document, finding)),
    faults: new Set(isTold ? errors.map(({ path }) => pathText(path)) : [WHOLE]),
    valid: document.intact && errors.length === 0,
  }
}

function findingsOf(document: ParsedDocument, { kind }: Identity): Finding[] {
  const { findings, judged } = identityFindings(document)
  if (!judged || kind === null) return [...findings]
  const validate = VALIDATORS[kind]
  const fromSchema = validate(document.root) ? [] : schemaFindings(document, validate.errors ?? [])
  const own = [...findings, ...fromSchema.filter(({ path }) => !isIdentity(path, findings))]
  const said = new Set(own.map(({ path }) => pathText(path)))
  const variables = variableFindings(document).filter(({ path }) => !isFaulty(said, path))
  for (const { path } of variables) said.add(pathText(path))
  const further = [...formatFindings(document.root, ['spec']), ...documentFindings(document)]
  return [...own, ...variables, ...further.filter(({ path }) => !isFaulty(said, path))].slice(0, MOST_ERRORS)
}

/** The schema says of `apiVersion` and of what it is misspelt as what has been said. */
function isIdentity(path: Path, findings: readonly Finding[]): boolean {
  if (findings.length === 0 || path.length !== 1) return false
  return path[0] === 'apiVersion' || findings.some(finding => finding.path[0] === path[0])
}
