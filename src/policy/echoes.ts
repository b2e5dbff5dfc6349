/** One mistake often breaks several rules of the schema: what only follows from another finding is left out. */
import { type Finding, type Path, pathText } from './document.js'
import { listText } from './schema-words.js'
import type { UnknownKey } from './unknown-key.js'

export type Draft = Finding | UnknownKey

export function withoutEchoes(drafts: readonly Draft[]): Finding[] {
  const unknown = drafts.filter((draft): draft is UnknownKey => 'meant' in draft)
  const meant = new Set(unknown.flatMap(key => key.meant))
  const hollow = drafts.filter(({ code }) => code === 'FB032' || code === 'FB033')
  const strays = new Map(hollow.map(draft => [draft, straysOf(draft, unknown)] as const))
  const told = new Set([...[...strays.values()].flat(), ...bareEchoes(drafts, unknown)])
  const shapes = drafts
    .filter(({ code, text }) => code === 'FB038' && text.startsWith('must be'))
    .map(({ path }) => pathText(path))
  return drafts.flatMap((draft): Finding[] => {
    if (told.has(draft as UnknownKey)) return []
    // A list of the wrong shape: what its items are does not matter.
    if (shapes.some(shape => pathText(draft.path).startsWith(`${shape}[`))) return []
    const below = strays.get(draft) ?? []
    if (below.length > 0) return [hollowFinding(draft, below)]
    const isEcho = draft.code === 'FB032' && [...meant].some(path => covers(draft.path, path))
    return isEcho ? [] : [plain(draft)]
  })
}

/** Of a value that its commas cut into keys, one message: that of the value if it is wrong, else that of the first such key. */
function bareEchoes(drafts: readonly Draft[], unknown: readonly UnknownKey[]): UnknownKey[] {
  const parentOf = ({ path }: Draft) => pathText(path.slice(0, -1))
  const wrong = new Set(drafts.filter(({ code }) => /^FB03[4-7]$/.test(code)).map(parentOf))
  return unknown
    .filter(({ bare }) => bare)
    .filter(
      (key, index, all) =>
        wrong.has(parentOf(key)) || all.findIndex(other => parentOf(other) === parentOf(key)) < index,
    )
}

/** Keys that stand beside an empty or missing mapping and belong under it. */
function straysOf({ path }: Draft, unknown: readonly UnknownKey[]): UnknownKey[] {
  const home = pathText(path)
  const beside = pathText(path.slice(0, -1))
  return unknown.filter(
    ({ path: own, meant }) =>
      pathText(own.slice(0, -1)) === beside &&
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

function covers(path: Path, inner: string): boolean {
  const outer = pathText(path)
  return inner === outer || inner.startsWith(`${outer}.`)
}

function plain(draft: Draft): Finding {
  if (!('meant' in draft)) return draft
  const { meant: _, bare: __, ...finding } = draft
  return finding
}
