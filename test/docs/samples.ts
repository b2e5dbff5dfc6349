import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Sample {
  /** Path from the root and line of the opening fence. */
  readonly at: string
  /** `yaml`, `sh` … */
  readonly language: string
  /** The words after it: how a shell sample is to be run. */
  readonly mode: string
  readonly text: string
}

/** Markdown files of the repository, from the root. */
export function documents(): string[] {
  const folders = [
    '',
    'policies',
    'deploy',
    'deploy/image',
    'deploy/observability',
    'test',
    'test/bench',
    'test/e2e',
    'test/e2e/fixtures',
  ]
  return folders.flatMap(folder => {
    const path = join(ROOT, folder)
    if (!existsSync(path)) return []
    return readdirSync(path)
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name))
  })
}

/** The fenced blocks of a text. */
export function samplesOf(path: string, markdown: string): Sample[] {
  const samples: Sample[] = []
  const fence = /^```([a-z]+)([^\n]*)\n(.*?)^```$/gms
  for (const { 0: block, 1: language = '', 2: mode = '', 3: text = '', index } of markdown.matchAll(fence)) {
    const line = markdown.slice(0, index).split('\n').length
    if (block !== '') samples.push({ at: `${path}:${line}`, language, mode: mode.trim(), text })
  }
  return samples
}

export function allSamples(): Sample[] {
  return documents().flatMap(path => samplesOf(path, read(path)))
}

/** Relative links whose target is missing. */
export function brokenLinks(path: string, markdown: string): string[] {
  const links = [...markdown.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(match => match[1] ?? '')
  return links.filter(link => !/^[a-z]+:/.test(link) && !existsSync(join(ROOT, dirname(path), link)))
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
