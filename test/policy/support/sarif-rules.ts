/** What the SARIF 2.1.0 specification demands of the parts that are written, by section. */

type Json = Readonly<Record<string, unknown>>

/** What is wrong with a log, one line each. */
export function sarifFaults(log: unknown): string[] {
  const top = record(JSON.parse(JSON.stringify(log)))
  return [
    ...expectKeys(top, ['$schema', 'version', 'runs'], '§3.13'),
    ...check(top['version'] === '2.1.0', '§3.13 version'),
    ...list(top['runs']).flatMap(runFaults),
  ]
}

function runFaults(run: Json): string[] {
  const driver = record(record(run['tool'])['driver'])
  const rules = list(driver['rules'])
  return [
    ...expectKeys(run, ['tool', 'columnKind', 'results'], '§3.14'),
    ...check(run['columnKind'] === 'utf16CodeUnits' || run['columnKind'] === 'unicodeCodePoints', '§3.14 columnKind'),
    ...expectKeys(driver, ['name', 'version', 'rules'], '§3.19'),
    ...check(text(driver['name']), '§3.19 name'),
    ...check(new Set(rules.map(rule => rule['id'])).size === rules.length, '§3.49 ids are unique'),
    ...rules.flatMap(ruleFaults),
    ...list(run['results']).flatMap(result => resultFaults(result, rules)),
  ]
}

function ruleFaults(rule: Json): string[] {
  const texts = ['shortDescription', 'fullDescription', 'help'].filter(key => rule[key] !== undefined)
  return [
    ...expectKeys(rule, ['id', ...texts, 'defaultConfiguration'], '§3.49'),
    ...texts.flatMap(key => check(text(record(rule[key])['text']), `§3.12 ${key}.text`)),
    ...check(LEVELS.includes(record(rule['defaultConfiguration'])['level']), '§3.50 level'),
  ]
}

function resultFaults(result: Json, rules: readonly Json[]): string[] {
  return [
    ...expectKeys(result, ['ruleId', 'ruleIndex', 'level', 'message', 'locations'], '§3.27'),
    ...check(rules[Number(result['ruleIndex'])]?.['id'] === result['ruleId'], '§3.27 ruleIndex'),
    ...check(LEVELS.includes(result['level']), '§3.27 level'),
    ...check(text(record(result['message'])['text']), '§3.11 text'),
    ...list(result['locations']).flatMap(locationFaults),
  ]
}

function locationFaults(location: Json): string[] {
  const { artifactLocation, region } = record(location['physicalLocation'])
  const { uri, uriBaseId } = record(artifactLocation)
  const absolute = /^[a-z][a-z0-9+.-]*:/i.test(String(uri))
  return [
    ...check(
      /^[\w.~:/%!$&'()*+,;=@-]+$/.test(String(uri)) && !/%(?![0-9A-F]{2})/.test(String(uri)),
      `§3.10 uri ${uri}`,
    ),
    ...check(absolute ? uriBaseId === undefined : !String(uri).startsWith('/'), '§3.4 uriBaseId'),
    ...(region === undefined ? [] : regionFaults(record(region))),
  ]
}

function regionFaults({ startLine, startColumn, endColumn, ...rest }: Json): string[] {
  return [
    ...check(Number.isInteger(startLine) && Number(startLine) >= 1, '§3.30 startLine'),
    ...check(Number.isInteger(startColumn) && Number(startColumn) >= 1, '§3.30 startColumn'),
    ...check(endColumn === undefined || Number(endColumn) > Number(startColumn), '§3.30 endColumn'),
    ...check(Object.keys(rest).length === 0, '§3.30 unknown keys'),
  ]
}

const LEVELS: readonly unknown[] = ['none', 'note', 'warning', 'error']

function expectKeys(value: Json, keys: readonly string[], where: string): string[] {
  return check(
    Object.keys(value).sort().join() === [...keys].sort().join(),
    `${where} has ${Object.keys(value)}, not ${keys}`,
  )
}

const check = (ok: boolean, what: string): string[] => (ok ? [] : [what])
const text = (value: unknown): boolean => typeof value === 'string' && value !== ''
const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : [{}])
