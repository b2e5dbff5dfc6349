import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkSource } from './check-source.js'
import { MADE_BY_TOOLS, TOP_LEVEL } from './import-table.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export function topLevelNames(): string[] {
  return readdirSync(ROOT)
}

/** Paths from the root of the repository, with forward slashes, of the files below these folders. */
export function filesBelow(...folders: string[]): string[] {
  return folders.flatMap(folder =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => `${entry.parentPath}/${entry.name}`.slice(ROOT.length).replaceAll('\\', '/')),
  )
}

export function readText(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8')
}

export function checkRepository(): string[] {
  return filesBelow('src', 'cmd')
    .filter(path => path.endsWith('.ts'))
    .flatMap(path => checkSource(path, readText(path)))
}

/** Names at the top that the layout does not know; dot names are free. */
export function strangers(names: readonly string[]): string[] {
  const known: ReadonlySet<string> = new Set([...TOP_LEVEL, ...MADE_BY_TOOLS])
  return names.filter(name => !name.startsWith('.') && !known.has(name))
}

/** Paths with a part that is not kebab-case; `.test.ts` and other endings are not part of the name. */
export function notKebabCase(paths: readonly string[]): string[] {
  return paths.filter(path =>
    path.split('/').some(part => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part) && part !== 'README.md'),
  )
}
