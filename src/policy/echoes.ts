/** One mistake often breaks several rules of the schema: what only follows from another finding is left out. */
import { type Finding, pathText } from './document.js'
import { listText } from './schema-words.js'
import type { UnknownKey } from './unknown-key.js'

export type Draft = Finding | UnknownKey

export function withoutEchoes(drafts: readonly Draft[]): Finding[] {
  const unknown = drafts.filter((draft): draft is UnknownKey => 'meant' in draft)
  const meant = new Set(unknown.flatMap(key => key.meant))
  const hollow = drafts.filter(({ code }) => code === 'FB032' || code === 'FB033')
  const beside = new Map<string, UnknownKey[]>()
  for (const key of unknown) {
    const at = pathText(key.path.slice(0, -1))
    const there = beside.get(at)
    if (there === undefined) beside.set(at, [key])
    else there.push(key)
  }
  const strays = new Map(hollow.map(draft => [draft, straysOf(draft, beside)] as const))
  const told = new Set([...[...strays.values()].flat(), ...bareEchoes(drafts, unknown)])
  const meantPaths = new Set([...meant].flatMap(prefixes))
  const shapes = drafts
    .filter(({ code, text }) => code === 'FB038' && text.startsWith('must be'))
    .map(({ path }) => pathText(path))
  return drafts.flatMap((draft): Finding[] => {
    if (told.has(draft as UnknownKey)) return []
    // A list of the wrong shape: what its items are does not matter.
    if (shapes.some(shape => pathText(draft.path).startsWith(`${shape}[`))) return []
    const below = strays.get(draft) ?? []
    if (below.length > 0) return [hollowFinding(draft, below)]
    const isEcho = draft.code === 'FB032' && meantPaths.has(pathText(draft.path))
    return isEcho ? [] : [plain(draft)]
  })
}

/** Of a value that its commas cut into keys, one message: that of the value if it is wrong, else that of the first such key. */
function bareEchoes(drafts: readonly Draft[], unknown: readonly UnknownKey[]): UnknownKey[] {
  const bare = unknown.filter(({ after }) => after !== undefined)
  const wrong = drafts.filter(({ code }) => /^FB03[4-7]$/.test(code))
  const told = new Set([...wrong, ...bare].map(({ path }) => pathText(path)))
  return bare.filter(({ path, after = null }) => after !== null && told.has(pathText([...path.slice(0, -1), after])))
}

/** Keys that stand beside an empty or missing mapping and belong under it. */
function straysOf({ path }: Draft, beside: ReadonlyMap<string, readonly UnknownKey[]>): UnknownKey[] {
  const home = pathText(path)
  const there = beside.get(pathText(path.slice(0, -1))) ?? []
  return there.filter(({ meant }) =>
    meant.some(one => one.startsWith(`${home}.`) && !one.slice(home.length + 1).includes('.')),
  )
}

function hollowFinding({ code, path }: Draft, strays: readonly UnknownKey[]): Finding {
  const name = String(path.at(-1))
  const keys = listText(strays.slice(0, 5).map(({ path: own }) => String(own.at(-1)))).replace(
    / or (?=[^,]*$)/,
    ' and ',
  )
  const [verb, them] = strays.length === 1 ? ['stands', 'it'] : ['stand', 'them']
  const text = `${name} is ${code === 'FB032' ? 'missing' : 'empty'}: ${keys} ${verb} beside it and ${strays.length === 1 ? 'belongs' : 'belong'} under it; indent ${them}`
  const first = strays[0]?.path ?? path
  if (code === 'FB033') return { code, path, mark: 'key', text }
  return {
    code,
    path: first,
    mark: 'key',
    text: text.replace('beside it', 'here').replace('under it; indent', `under ${name}: write it above, and indent`),
  }
}

/** `a.b.c` → `a`, `a.b`, `a.b.c`. */
function prefixes(path: string): string[] {
  const parts = path.split('.')
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'))
}

function plain(draft: Draft): Finding {
  if (!('meant' in draft)) return draft
  const { meant: _, after: __, ...finding } = draft
  return finding
}
