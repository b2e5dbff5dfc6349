import { posix } from 'node:path'
import { parseSync } from 'vite'
import { bannedGlobals } from './banned-globals.js'
import { LAZY_PACKAGES, MAX_LINES, UNIT_RULES, type UnitRule } from './import-table.js'
import { type Import, importsOf } from './imports.js'

/** Every breach of the layout rules in one source file, one line each: `file:line  what, and what is allowed`. */
export function checkSource(path: string, text: string): string[] {
  const unit = unitOf(path)
  const rule = UNIT_RULES[unit]
  if (rule === undefined) return [`${path}:1  ${unit} has no row in test/architecture/import-table.ts`]
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) return [`${path}:1  does not parse: ${errors[0]?.message}`]
  const breaches: { offset: number; what: string }[] = []
  for (const found of importsOf(program)) {
    const what = judge(path, unit, rule, found)
    if (what !== null) breaches.push({ offset: found.offset, what })
  }
  if (rule.pure) {
    for (const { offset, name } of bannedGlobals(program)) {
      breaches.push({ offset, what: `${unit} uses ${name}; time, randomness and settings are arguments there` })
    }
  }
  const lines = breaches.map(({ offset, what }) => `${path}:${lineAt(text, offset)}  ${what}`)
  return [...lines, ...checkLength(path, text)]
}

/** `core`, `cmd/demo`, `telemetry/events` …: the name of the most specific row of the table. */
export function unitOf(path: string): string {
  const parts = path.replace(/\.ts$/, '').split('/')
  const inside = parts[0] === 'src' ? parts.slice(1) : parts
  const file = inside.slice(0, 2).join('/')
  return UNIT_RULES[file] === undefined ? (inside[0] ?? '') : file
}

function judge(path: string, unit: string, rule: UnitRule, found: Import): string | null {
  const { specifier } = found
  if (specifier === null) return `${unit} imports a computed name; write it out so that it can be checked`
  if (specifier.startsWith('.')) return judgeOwn(path, unit, rule, found, specifier)
  if (specifier.startsWith('node:')) {
    return rule.node ? null : `${unit} imports ${specifier}; it may import no node: module`
  }
  const name = packageName(specifier)
  if (!rule.npm?.includes(name)) {
    return `${unit} imports the package ${specifier}; it may import ${list(rule.npm ?? [], 'no package')}`
  }
  const eager = found.kind === 'value' && LAZY_PACKAGES.some(lazy => lazy === name)
  return eager ? `${name} is loaded at start-up; use import() where it is needed, or import type` : null
}

function judgeOwn(path: string, unit: string, rule: UnitRule, found: Import, specifier: string): string | null {
  const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
  if (!/^(src|cmd)\//.test(target)) return `${unit} imports ${target}, which is neither in src nor in cmd`
  const other = unitOf(target)
  if (covers(rule.imports, other)) return null
  const types = rule.types ?? []
  if (covers(types, other)) {
    return found.kind === 'type' ? null : `${unit} imports ${other} (${target}); only \`import type\` is allowed`
  }
  const allowed = [list(rule.imports, 'nothing'), ...types.map(name => `types of ${name}`)].join(', ')
  return `${unit} imports ${other} (${target}); it may import ${allowed}`
}

function covers(names: readonly string[], unit: string): boolean {
  return names.includes(unit) || names.includes(unit.split('/')[0] ?? '')
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function checkLength(path: string, text: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines <= MAX_LINES || path.includes('/generated/')) return []
  return [`${path}:${lines}  has ${lines} lines; at most ${MAX_LINES} are allowed, so split it`]
}

function list(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(', ')
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
