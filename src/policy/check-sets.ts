/** From the paths of a command line to policy sets. */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileMessage } from './messages.js'
import { isPolicyFile, type PolicySource, readPolicyDirectory, readPolicyFiles, reason, textOf } from './source.js'

/** Stands for standard input; a file of that name is `./-`. */
export const STDIN = '-'
const STDIN_NAME = '<stdin>'

/** What cannot be checked at all, one sentence each. */
export function pathFaults(paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    if (path === STDIN) return []
    try {
      statSync(path)
      return []
    } catch (error) {
      return [`${path} cannot be checked: ${reason(error)}`]
    }
  })
}

/** Each directory is a set of its own; single files and standard input are one set together. What is named twice counts once. */
export function setsOf(paths: readonly string[], stdin: Uint8Array): PolicySource[] {
  const named = paths.filter(path => path !== STDIN)
  const directories = distinct(named.filter(isDirectory))
  const roots = new Set(directories.map(path => realpathSync(path)))
  const inDirectory = (path: string) => isPolicyFile(basename(path)) && roots.has(realpathSync(dirname(path)))
  const files = distinct(named.filter(path => !isDirectory(path) && !inDirectory(path)))
  const sets = directories.map(readPolicyDirectory)
  if (files.length === 0 && !paths.includes(STDIN)) return sets
  const single = readPolicyFiles(files)
  return [...sets, paths.includes(STDIN) ? withStdin(single, stdin) : single]
}

function withStdin(source: PolicySource, bytes: Uint8Array): PolicySource {
  const text = textOf(bytes)
  if (typeof text === 'string') return { ...source, files: [{ name: STDIN_NAME, text }, ...source.files] }
  return { ...source, problems: [fileMessage(text.code, STDIN_NAME, text.text), ...source.problems] }
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory()
}

function distinct(paths: readonly string[]): string[] {
  return [...new Map([...paths].reverse().map(path => [realpathSync(path), path])).values()].reverse()
}
