import { isNode, type Node, stringOf, walk } from './syntax-tree.js'

const BANNED = new Set([
  'Date',
  'performance',
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'crypto',
  'globalThis',
  'global',
])

/** Where a module reads the time, randomness or its surroundings by itself. Types and property names are not uses. */
export function bannedGlobals(program: object): { readonly name: string; readonly offset: number }[] {
  const found: { name: string; offset: number }[] = []
  walk(program as Node, (node, parent, field) => {
    if (node.type !== 'Identifier') return
    const name = String(node['name'])
    if (isName(parent, field) || parent?.type.startsWith('TS')) return
    if (BANNED.has(name)) found.push({ name: memberName(name, parent), offset: node.start })
    if (name === 'Math' && mayBeRandom(parent)) found.push({ name: 'Math.random', offset: node.start })
  })
  return found
}

/** `a.Date`, `{ Date: 1 }`, `class { Date() {} }`: the word is a key, not a reference. */
function isName(parent: Node | null, field: string): boolean {
  if (parent === null || parent['computed'] === true) return false
  if (parent.type === 'MemberExpression') return field === 'property'
  return field === 'key' && parent['shorthand'] !== true
}

function memberName(name: string, parent: Node | null): string {
  const property = parent?.type === 'MemberExpression' ? parent['property'] : null
  return isNode(property) && property.type === 'Identifier' ? `${name}.${property['name']}` : name
}

/** Anything but `Math.floor` and the like: the object itself passed on could be asked for `random` elsewhere. */
function mayBeRandom(parent: Node | null): boolean {
  if (parent?.type !== 'MemberExpression') return true
  const property = parent['property']
  if (parent['computed'] === true) return stringOf(property) === null || stringOf(property) === 'random'
  return isNode(property) && property['name'] === 'random'
}
