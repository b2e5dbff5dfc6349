/** From the text of a policy set to a snapshot, or to everything that is wrong with it. */
import type { InvalidUpstream, Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { type Conflicts, findConflicts } from './claims.js'
import { compileUpstream, type Effective, effectiveOf, listenOf, matchOf } from './compile-upstream.js'
import type { JudgedDocument } from './judge.js'
import type { KnownDocuments } from './known-documents.js'
import { distinctMessages, type PolicyMessage } from './messages.js'
import { isTouched } from './overlay.js'
import { type DocumentSet, readDocuments } from './read-documents.js'
import { PolicyLayers, type Resolved } from './resolve.js'
import { routeMessages } from './route-rules.js'
import { budgetMessages, ruleMessages } from './rule-messages.js'
import { type Shown, shownMessages } from './shown-messages.js'
import type { PolicySource } from './source.js'

export interface LoadOptions {
  /** `valid-only` also compiles what is valid of a set that is not. */
  readonly mode: 'all' | 'valid-only'
  readonly generation: number
}

/** Plain data throughout: it can be cloned to another thread. */
export type LoadResult = Shown &
  (
    | {
        /** All messages are warnings. */
        readonly ok: true
        readonly snapshot: Snapshot
      }
    | {
        readonly ok: false
        /**
         * With `valid-only`, where there was at least one document, good or bad. A first load also begins with nothing: a
         * ConfigMap that is still to come must not keep the app's pod from starting. Later, nothing is no reason to drop what is.
         */
        readonly partial?: Snapshot
      }
  )

/** Generation of what a sidecar starts with. */
const FIRST = 1

interface Compiled {
  readonly judged: JudgedDocument
  readonly effective: Effective
  readonly policies: readonly JudgedDocument[]
  readonly messages: readonly PolicyMessage[]
  readonly valid: boolean
}

export function loadPolicies(source: PolicySource, options: LoadOptions): LoadResult {
  return loadDocuments(source, readDocuments(source), options)
}

/** @param set read from the source */
export function loadDocuments(source: PolicySource, set: DocumentSet, { mode, generation }: LoadOptions): LoadResult {
  const { judged, messages: found } = set
  const conflicts = findConflicts(set)
  const layers = new PolicyLayers(judged)
  const compiled = judged.filter(({ kind }) => kind === 'Upstream').map(one => compile(one, layers, conflicts))
  const messages = distinctMessages([
    ...found.map(one => layers.withKnownRef(one)),
    ...conflicts.messages,
    ...compiled.flatMap(one => one.messages),
    ...unusedPolicyMessages(judged, layers, compiled),
  ])
  const shown = shownMessages(messages)
  if (messages.every(({ severity }) => severity === 'warning')) {
    return { ok: true, snapshot: snapshotOf(source, generation, compiled), ...shown }
  }
  const nothing = judged.length === 0 && !(generation === FIRST && messages.every(({ code }) => code === 'FB002'))
  if (mode === 'all' || nothing) return { ok: false, ...shown }
  return { ok: false, ...shown, partial: snapshotOf(source, generation, compiled) }
}

/** What the next load need not parse. Who came late to a name or port stays late until the conflict is over. */
export function knownAfter(set: DocumentSet): KnownDocuments {
  const { late } = findConflicts(set)
  return new Map([...set.known].filter(([, documents]) => !documents.some(one => late.has(one))))
}

function compile(judged: JudgedDocument, layers: PolicyLayers, { documents }: Conflicts): Compiled {
  const resolved = layers.resolve(judged)
  const messages = [...resolved.messages, ...effectiveMessages(judged, resolved)]
  const standing = [judged, ...resolved.policies].every(one => one.valid && !documents.has(one))
  return {
    judged,
    messages,
    effective: resolved.effective,
    policies: resolved.policies,
    valid: standing && messages.every(({ severity }) => severity === 'warning'),
  }
}

function effectiveMessages({ document, faults }: JudgedDocument, { effective }: Resolved): PolicyMessage[] {
  const { fields, policy, routes } = effective
  return [
    ...ruleMessages(fields, policy),
    ...routes.flatMap(route => [...ruleMessages(route.fields, route.policy), ...budgetMessages(route, effective)]),
    ...routeMessages(document, routes, path => isTouched(faults, path)),
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
  const invalid = new Map<string, InvalidUpstream>()
  for (const { judged, effective, valid } of compiled) {
    const { document, name } = judged
    if (name === null) continue
    if (valid) upstreams.set(name, compileUpstream(document.root, effective))
    else invalid.set(name, Object.freeze({ match: matchOf(document.root, name), listen: listenOf(document.root) }))
  }
  return Object.freeze({ generation, hash: source.hash, upstreams, invalid })
}
