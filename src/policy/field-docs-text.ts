/** The documentation of a field, for a terminal. */
import { stringify } from 'yaml'
import type { FieldDoc } from './field-docs.js'

const LABEL = 11

export function fieldDocsText(docs: readonly FieldDoc[]): string {
  return docs.map(fieldDocText).join('\n')
}

function fieldDocText(doc: FieldDoc): string {
  const lines = [
    ...labelled('type', [doc.type]),
    ...labelled('allowed', doc.words.length > 0 ? wordLines(doc) : doc.allowed === null ? [] : [doc.allowed]),
    ...labelled('default', doc.default === null ? [] : [oneLine(doc.default)]),
    ...labelled('example', doc.examples.map(oneLine)),
    ...labelled(
      'stands in',
      doc.places.map(({ path, kinds }) => `${path} of ${kinds.join(' and ')}`),
    ),
    ...labelled('fields', fieldLines(doc)),
  ]
  return `${doc.path}\n\n  ${doc.description}\n\n${lines.join('\n')}\n`
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, n) => `${(n === 0 ? label : '').padEnd(LABEL)}${line}`)
}

function wordLines({ words }: FieldDoc): string[] {
  const width = Math.max(...words.map(({ word }) => word.length))
  return words.map(({ word, meaning }) => `${word.padEnd(width)}  ${meaning}`)
}

function fieldLines({ fields }: FieldDoc): string[] {
  const widths = [
    Math.max(...fields.map(({ name }) => name.length)),
    Math.max(...fields.map(({ type }) => type.length)),
  ] as const
  return fields.map(
    ({ name, type, description }) =>
      `${name.padEnd(widths[0])}  ${type.padEnd(widths[1])}  ${firstSentence(description)}`,
  )
}

function firstSentence(text: string): string {
  return /^.*?\.(?= [A-Z`]|$)/.exec(text)?.[0] ?? text
}

/** As a policy would write it. */
function oneLine(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()
}
