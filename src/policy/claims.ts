/** Names, ports, hosts and prefixes that only one document may have. */
import { type ListenAddress, overlap, parseListenAddress } from '../core/listen-address.js'
import { CODES, type MessageCode } from './codes.js'
import { matchOf } from './compile-upstream.js'
import { message, type Path, valueAt, whereText } from './document.js'
import type { JudgedDocument } from './judge.js'
import type { PolicyMessage } from './messages.js'
import { isFaulty } from './overlay.js'
import type { DocumentSet } from './read-documents.js'
import { parseTarget } from './target.js'

export interface Conflicts {
  readonly messages: readonly PolicyMessage[]
  /** All sides of a conflict: which of them is meant is not for us to guess. */
  readonly documents: ReadonlySet<JudgedDocument>
  /** Those that the messages are about: the others were there before. */
  readonly late: ReadonlySet<JudgedDocument>
}

interface Claim {
  readonly code: MessageCode
  readonly key: string
  readonly owner: JudgedDocument
  readonly path: Path
  readonly text: (other: Claim) => string
  /** Narrows the key down where equal keys alone are no conflict. */
  readonly meets?: (other: Claim) => boolean
  readonly address?: ListenAddress
  /** Port and base path of a target; a host that is only named has none. */
  readonly base?: string
}

/** Whoever claims what an earlier one has gets the message: the earlier one is in force, or stands above. */
export function findConflicts({ judged, seniority }: Pick<DocumentSet, 'judged' | 'seniority'>): Conflicts {
  const messages: PolicyMessage[] = []
  const documents = new Set<JudgedDocument>()
  const late = new Set<JudgedDocument>()
  const taken = new Map<string, Claim[]>()
  const rank = (one: JudgedDocument) => seniority.get(one) ?? 0
  for (const claim of [...judged].sort((a, b) => rank(a) - rank(b)).flatMap(claimsOf)) {
    const key = `${claim.code} ${claim.key}`
    const others = taken.get(key) ?? []
    const other = others.find(earlier => conflicts(earlier, claim))
    if (other === undefined) {
      taken.set(key, [...others, claim])
      continue
    }
    const { code, path } = claim
    if (CODES[code].severity === 'error') {
      documents.add(other.owner).add(claim.owner)
      late.add(claim.owner)
    }
    messages.push(message(claim.owner.document, { code, path, text: claim.text(other) }))
  }
  return { messages, documents, late }
}

function conflicts(a: Claim, b: Claim): boolean {
  if (a.owner === b.owner) return false
  // Two documents of one name have their message; that they also share all else follows from it.
  if (a.code !== 'FB040' && a.owner.name === b.owner.name) return false
  return a.meets?.(b) ?? true
}

function claimsOf(owner: JudgedDocument): Claim[] {
  const { document, kind, name, faults } = owner
  if (kind === null || name === null || isFaulty(faults, NAME)) return []
  const own: Claim = {
    code: 'FB040',
    key: `${kind} ${name}`,
    owner,
    path: NAME,
    text: other => `the ${kind} "${name}" is also at ${placeOf(other)}: names are unique`,
  }
  if (kind === 'Policy') return [own]
  const match = matchOf(document.root, name)
  const wrote = valueAt(document.root, PREFIX) !== undefined
  const prefix: Claim = {
    code: 'FB043',
    key: match.pathPrefix,
    owner,
    path: wrote ? PREFIX : NAME,
    text: other => `the path prefix ${match.pathPrefix}${wrote ? '' : ', the default,'} ${claimedBy(other)}`,
  }
  return [own, ...listenClaims(owner), prefix, ...hostClaims(owner, match.hosts), ...urlClaims(owner, match.hosts)]
}

const NAME: Path = ['metadata', 'name']
const PREFIX: Path = ['spec', 'match', 'pathPrefix']
const LISTEN: Path = ['spec', 'listen']
const TARGET: Path = ['spec', 'target']
const HOSTS: Path = ['spec', 'match', 'hosts']

function hostClaims(owner: JudgedDocument, hosts: readonly string[]): Claim[] {
  const written = valueAt(owner.document.root, HOSTS) as readonly unknown[]
  return hosts.map(host => ({
    code: 'FB042',
    key: host,
    owner,
    path: [...HOSTS, written.findIndex(item => String(item).toLowerCase() === host)],
    text: other => `the host ${host} ${claimedBy(other)}`,
  }))
}

/** An absolute-form target is for the upstream with its host in `match.hosts`, else for the one with that target. */
function urlClaims(owner: JudgedDocument, hosts: readonly string[]): Claim[] {
  const code = 'FB072'
  const written = valueAt(owner.document.root, HOSTS) as readonly unknown[]
  const named = hosts.map((host, index): Claim => {
    const at = written.findIndex(item => String(item).toLowerCase() === host)
    const text = ({ owner: { name } }: Claim) =>
      `the host ${host} is the target of the Upstream "${name}": calls to its URL go to "${owner.name}"`
    return { code, key: bareHost(host), owner, path: [...HOSTS, at === -1 ? index : at], meets: isTarget, text }
  })
  const target = valueAt(owner.document.root, TARGET)
  const parsed = typeof target === 'string' ? parseTarget(target) : null
  if (parsed === null || 'error' in parsed || parsed.socketPath !== undefined) return named
  const own: Claim = {
    code,
    key: bareHost(parsed.hostname),
    owner,
    path: TARGET,
    base: `${parsed.port}${parsed.basePath}`,
    meets: other => other.base === undefined || other.base === own.base,
    text: other =>
      other.base === undefined
        ? `the host ${parsed.hostname} is in match.hosts of the Upstream "${other.owner.name}" at ${placeOf(other)}: calls to this URL go there`
        : `this is also the target of the Upstream "${other.owner.name}" at ${placeOf(other)}: calls to this URL go there`,
  }
  // Who claims the host of its own target means the same calls.
  return [...named.filter(({ key }) => key !== own.key), own]
}

const isTarget = (other: Claim) => other.base !== undefined

/** As calls name it: without the final dot, in lower case. */
function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}

function listenClaims(owner: JudgedDocument): Claim[] {
  const listen = valueAt(owner.document.root, LISTEN)
  const address = typeof listen === 'string' ? parseListenAddress(listen) : null
  // Port 0 is whichever is free.
  if (address === null || 'error' in address || address.port === 0) return []
  return [
    {
      code: 'FB041',
      key: String(address.port),
      owner,
      path: LISTEN,
      address,
      text: other => `the port ${address.port} ${claimedBy(other)}`,
      meets: other => other.address !== undefined && overlap(address, other.address),
    },
  ]
}

function claimedBy(other: Claim): string {
  return `is also claimed by the Upstream "${other.owner.name}" at ${placeOf(other)}`
}

function placeOf({ owner, path }: Claim): string {
  return whereText(owner.document, path)
}
