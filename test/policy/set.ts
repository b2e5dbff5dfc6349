/** Policy sets for tests, as texts. */
import { type LoadResult, loadPolicies } from '../../src/policy/load.js'
import { formatMessages } from '../../src/policy/messages.js'
import type { PolicySource } from '../../src/policy/source.js'

export type Texts = Readonly<Record<string, string>> | string

/** A single text is the file `a.yaml`. */
export function sourceOf(texts: Texts): PolicySource {
  const files = Object.entries(typeof texts === 'string' ? { 'a.yaml': texts } : texts)
  return { dir: '', files: files.map(([name, text]) => ({ name, text })), hash: 'abc', problems: [] }
}

export function load(texts: Texts, mode: 'all' | 'valid-only' = 'all'): LoadResult {
  return loadPolicies(sourceOf(texts), { mode, generation: 7 })
}

/** The messages, one per line. */
export function messagesOf(texts: Texts): string[] {
  const { messages } = load(texts)
  return messages.length === 0 ? [] : formatMessages(messages).split('\n')
}

/** The snapshot of a set without errors. */
export function snapshotOf(texts: Texts) {
  const result = load(texts)
  if (!result.ok) throw new Error(formatMessages(result.messages))
  return result.snapshot
}

/** An Upstream document on the lines given, which stand under `spec` after `target` and begin at line 6. */
export function upstream(lines = '', name = 'payments'): string {
  return document('Upstream', name, `  target: https://${name}.example.com\n${indent(lines)}`)
}

/** A Policy document; the lines begin at line 5. */
export function policy(lines: string, name = 'careful'): string {
  return document('Policy', name, indent(lines))
}

function document(kind: string, name: string, spec: string): string {
  return `apiVersion: forbear.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n${spec}`
}

function indent(lines: string): string {
  return lines.replace(/^(?=.)/gm, '  ')
}

/** Several documents in one file. */
export function together(...documents: string[]): string {
  return documents.join('\n---\n')
}
