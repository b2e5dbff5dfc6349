import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toolsDirectory } from './tools-directory.mjs'

export interface Tool {
  readonly path: string
  /** `1.35.2`. */
  readonly version: string
  /** `35` of `1.35.2`. */
  readonly minor: number
}

/** What to say where a tool is absent. */
export const HOW_TO_GET = 'not found; `node test/kube/support/fetch-tools.mjs` brings it'

let foundKubectls: Tool[] | undefined

/** Every kubectl: the fetched ones, those of the PATH and their versioned brothers; one a minor version, oldest first. */
export function kubectls(): Tool[] {
  foundKubectls ??= findKubectls()
  return foundKubectls
}

function findKubectls(): Tool[] {
  const beside = onPath('kubectl').map(path => dirname(realpathSync(path)))
  const brothers = beside.flatMap(folder =>
    readdirSync(folder)
      .filter(name => /^kubectl\.1\.\d+$/.test(name))
      .map(name => join(folder, name)),
  )
  return versions([...fetched('kubectl'), ...brothers, ...onPath('kubectl')], ['version', '--client', '-o', 'json'])
}

export function helms(): Tool[] {
  return versions([...fetched('helm'), ...onPath('helm')], ['version', '--template', '{{.Version}}'])
}

/** The evaluator of CEL, if it was fetched. */
export function celModule(): string | undefined {
  const path = join(toolsDirectory(), 'cel/lib/index.js')
  return existsSync(path) ? pathToFileURL(path).href : undefined
}

/** Runs a tool on `input`; throws with what it said when it fails. */
export function runTool(tool: Tool, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(tool.path, args, { input, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0) throw new Error(`${tool.path} ${args.join(' ')}: ${stderr}`)
  return stdout
}

function fetched(name: string): string[] {
  const root = toolsDirectory()
  if (!existsSync(root)) return []
  return readdirSync(root)
    .map(folder => join(root, folder, name))
    .filter(path => existsSync(path))
}

function onPath(name: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map(folder => join(folder, name)).filter(path => existsSync(path))
}

function versions(paths: readonly string[], question: readonly string[]): Tool[] {
  const found = new Map<string, Tool>()
  for (const path of paths) {
    const tool = versionOf(path, question)
    const minor = tool?.version.split('.', 2).join('.') ?? ''
    if (tool !== undefined && !found.has(minor)) found.set(minor, tool)
  }
  return [...found.values()].sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
}

/** None when it does not run here, or is one that only hands on to another version. */
function versionOf(path: string, question: readonly string[]): Tool | undefined {
  try {
    const said = execFileSync(path, question, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [, version, minor] = /v(\d+\.(\d+)\.\d+)(?!-dispatcher)/.exec(said) ?? []
    return version === undefined ? undefined : { path, version, minor: Number(minor) }
  } catch {
    return undefined
  }
}
