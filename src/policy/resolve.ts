/** Which layers lie under each Upstream, and what is in force once they are laid on each other. */
import { type Effective, effectiveOf } from './compile-upstream.js'
import { message, valueAt } from './document.js'
import type { JudgedDocument } from './judge.js'
import type { PolicyMessage } from './messages.js'
import { nearest } from './nearest.js'
import { BUILT_IN_FIELDS, type Fields, isFaulty, type Layer, overlay } from './overlay.js'

/** Of names, in search of the nearest; each costs some µs. */
const MOST_COMPARISONS = 20_000

const DEFAULT = 'default'
const RANK = { default: 1, policy: 2, upstream: 3, route: 4 } as const

export interface Resolved {
  readonly effective: Effective
  /** The Policies that it stands on, all of them valid or not. */
  readonly policies: readonly JudgedDocument[]
  /** A policyRef that leads nowhere. */
  readonly messages: readonly PolicyMessage[]
}

/** The Policies of one set, laid on the built-ins once each. */
export class PolicyLayers {
  readonly #policies: ReadonlyMap<string, JudgedDocument>
  readonly #upstreams: ReadonlySet<string | null>
  readonly #base: Fields
  readonly #byName = new Map<string, Fields>()
  #comparisons = 0

  constructor(judged: readonly JudgedDocument[]) {
    this.#policies = policiesByName(judged)
    this.#upstreams = new Set(judged.filter(({ kind }) => kind === 'Upstream').map(({ name }) => name))
    const standard = this.#policies.get(DEFAULT)
    this.#base =
      standard === undefined ? BUILT_IN_FIELDS : overlay(BUILT_IN_FIELDS, policyLayer(standard, RANK.default))
  }

  /** Built-in, `default`, and the Policy of that name if there is one. */
  below(name: string | null): Fields {
    const policy = name === null || name === DEFAULT ? undefined : this.#policies.get(name)
    if (name === null || policy === undefined) return this.#base
    const known = this.#byName.get(name) ?? overlay(this.#base, policyLayer(policy, RANK.policy))
    this.#byName.set(name, known)
    return known
  }

  resolve(upstream: JudgedDocument): Resolved {
    const { document, faults, name } = upstream
    const ref = policyRefOf(upstream)
    const at = ['spec']
    const label = `Upstream ${name}`
    const fields = overlay(this.below(ref), { label, rank: RANK.upstream, document, at, faults })
    const routes = valueAt(document.root, ['spec', 'routes'])
    const own = (Array.isArray(routes) ? routes : []).map((_, index) => overlay(fields, routeLayer(upstream, index)))
    const policies = [DEFAULT, ...(ref === null ? [] : [ref])].flatMap(used => this.#policies.get(used) ?? [])
    return { effective: effectiveOf(fields, own), policies, messages: this.#missing(upstream, ref) }
  }

  /** A name of the wrong form is told by its document, which does not know whether the right one exists. */
  withKnownRef(message: PolicyMessage): PolicyMessage {
    const { path, suggestion } = message
    if (path !== 'spec.policyRef' || suggestion === null || this.#policies.has(suggestion)) return message
    return { ...message, suggestion: null }
  }

  #missing({ document }: JudgedDocument, ref: string | null): PolicyMessage[] {
    if (ref === null || this.#policies.has(ref)) return []
    const names = [...this.#policies.keys()]
    // A name of the wrong form is refused itself.
    const suggestion =
      this.#comparisons > MOST_COMPARISONS
        ? null
        : nearest(
            ref,
            names.filter(name => /^[a-z0-9-]+$/.test(name)),
          )
    this.#comparisons += names.length
    const known =
      names.length === 0
        ? 'there is none in this set'
        : `there ${names.length === 1 ? 'is' : 'are'} ${names.slice(0, 20).join(', ')}`
    const other = this.#upstreams.has(ref) ? ', which is an Upstream' : ''
    const text = `no Policy is called "${ref}"${other}${suggestion === null ? `; ${known}` : ''}`
    return [message(document, { code: 'FB044', path: ['spec', 'policyRef'], text, suggestion })]
  }
}

function policyRefOf({ document, faults }: JudgedDocument): string | null {
  const path = ['spec', 'policyRef']
  const ref = valueAt(document.root, path)
  return typeof ref === 'string' && !isFaulty(faults, path) ? ref : null
}

/** Of two Policies of one name the first; both are invalid anyway. */
function policiesByName(judged: readonly JudgedDocument[]): Map<string, JudgedDocument> {
  const map = new Map<string, JudgedDocument>()
  for (const one of judged) {
    if (one.kind === 'Policy' && one.name !== null && !map.has(one.name)) map.set(one.name, one)
  }
  return map
}

function policyLayer({ document, faults, name }: JudgedDocument, rank: number): Layer {
  return { label: `Policy ${name}`, rank, document, at: ['spec'], faults }
}

function routeLayer({ document, faults }: JudgedDocument, index: number): Layer {
  const at = ['spec', 'routes', index]
  const name = valueAt(document.root, [...at, 'name'])
  return { label: `route ${typeof name === 'string' ? name : index}`, rank: RANK.route, document, at, faults }
}
