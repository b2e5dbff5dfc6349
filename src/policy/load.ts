/** From the text of a policy set to a snapshot, or to everything that is wrong with it. */
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { type Conflicts, findConflicts } from './claims.js'
import { compileUpstream, type Effective, effectiveOf, matchOf } from './compile-upstream.js'
import { type JudgedDocument, judgeDocument } from './judge.js'
import { distinctMessages, fileMessage, type PolicyMessage } from './messages.js'
import { PolicyLayers, type Resolved } from './resolve.js'
import { budgetMessages, ruleMessages } from './rule-messages.js'
import { fileLabel, type PolicySource } from './source.js'
import { parseYamlFile } from './yaml-file.js'

export interface LoadOptions {
  /** `valid-only` also compiles what is valid of a set that is not. */
  readonly mode: 'all' | 'valid-only'
  readonly generation: number
}

/** Plain data throughout: it can be cloned to another thread. */
export type LoadResult =
  | {
      readonly ok: true
      readonly snapshot: Snapshot
      /** Warnings. */
      readonly messages: readonly PolicyMessage[]
    }
  | {
      readonly ok: false
      readonly messages: readonly PolicyMessage[]
      /** With `valid-only`, where there was at least one document, good or bad. */
      readonly partial?: Snapshot
    }

interface Compiled {
  readonly judged: JudgedDocument
  readonly effective: Effective
  readonly policies: readonly JudgedDocument[]
  readonly messages: readonly PolicyMessage[]
  readonly valid: boolean
}

export function loadPolicies(source: PolicySource, { mode, generation }: LoadOptions): LoadResult {
  const { judged, messages: found } = readDocuments(source)
  const conflicts = findConflicts(judged)
  const layers = new PolicyLayers(policiesByName(judged))
  const compiled = judged.filter(({ kind }) => kind === 'Upstream').map(one => compile(one, layers, conflicts))
  const messages = distinctMessages([
    ...found,
    ...conflicts.messages,
    ...compiled.flatMap(one => one.messages),
    ...unusedPolicyMessages(judged, layers, compiled),
  ])
  if (messages.every(({ severity }) => severity === 'warning')) {
    return { ok: true, snapshot: snapshotOf(source, generation, compiled), messages }
  }
  if (mode === 'all' || judged.length === 0) return { ok: false, messages }
  return { ok: false, messages, partial: snapshotOf(source, generation, compiled) }
}

function readDocuments(source: PolicySource): { judged: JudgedDocument[]; messages: PolicyMessage[] } {
  const judged: JudgedDocument[] = []
  const messages: PolicyMessage[] = source.problem === null ? [] : [source.problem]
  for (const { name, text } of source.files) {
    const file = fileLabel(source, name)
    // A file that was cut to nothing must not pass for one without upstreams.
    if (text.trim() === '') messages.push(fileMessage('FB002', file, 'is empty: give it a document or remove it'))
    const parsed = parseYamlFile(file, text)
    messages.push(...parsed.messages)
    judged.push(...parsed.documents.map(judgeDocument))
  }
  messages.push(...judged.flatMap(one => one.messages))
  if (judged.length === 0 && messages.length === 0) {
    messages.push(fileMessage('FB002', source.dir, 'no policy documents, only comments'))
  }
  return { judged, messages }
}

function policiesByName(judged: readonly JudgedDocument[]): Map<string, JudgedDocument> {
  const map = new Map<string, JudgedDocument>()
  for (const one of judged) {
    if (one.kind === 'Policy' && one.name !== null && !map.has(one.name)) map.set(one.name, one)
  }
  return map
}

function compile(judged: JudgedDocument, layers: PolicyLayers, { documents }: Conflicts): Compiled {
  const resolved = layers.resolve(judged)
  const messages = [...resolved.messages, ...effectiveMessages(resolved)]
  const standing = [judged, ...resolved.policies].every(one => one.valid && !documents.has(one))
  return {
    judged,
    messages,
    effective: resolved.effective,
    policies: resolved.policies,
    valid: standing && messages.every(({ severity }) => severity === 'warning'),
  }
}

function effectiveMessages({ effective }: Resolved): PolicyMessage[] {
  const { fields, policy, routes } = effective
  return [
    ...ruleMessages(fields, policy),
    ...routes.flatMap(route => [...ruleMessages(route.fields, route.policy), ...budgetMessages(route, effective)]),
  ]
}

/** A Policy that no Upstream uses still gets its mistakes told. */
function unusedPolicyMessages(
  judged: readonly JudgedDocument[],
  layers: PolicyLayers,
  upstreams: readonly Compiled[],
): PolicyMessage[] {
  const used = new Set(upstreams.flatMap(({ policies }) => policies))
  const unused = judged.filter(one => one.kind === 'Policy' && !used.has(one))
  return unused.flatMap(({ name }) => {
    const { fields, policy } = effectiveOf(layers.below(name), [])
    return ruleMessages(fields, policy)
  })
}

function snapshotOf(source: PolicySource, generation: number, compiled: readonly Compiled[]): Snapshot {
  const upstreams = new Map<string, UpstreamSnapshot>()
  const invalid = new Map<string, { readonly match: UpstreamSnapshot['match'] }>()
  for (const { judged, effective, valid } of compiled) {
    const { document, name } = judged
    if (name === null) continue
    if (valid) upstreams.set(name, compileUpstream(document.root, effective))
    else invalid.set(name, Object.freeze({ match: matchOf(document.root, name) }))
  }
  return Object.freeze({ generation, hash: source.hash, upstreams, invalid })
}
