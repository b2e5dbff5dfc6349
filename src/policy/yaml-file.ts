/** A file of YAML, or a piece of one, into its documents: 1.2 core schema, merge keys, no coercion, bounded against bombs. */
import { type Document, isScalar, type Node, parseAllDocuments, type YAMLError } from 'yaml'
import { type Finding, message, type ParsedDocument } from './document.js'
import { type Lines, linesOf, positionAt } from './lines.js'
import type { PolicyMessage } from './messages.js'
import { MAX_DEPTH, readNode } from './yaml-reader.js'

export interface ParsedFile {
  readonly documents: readonly ParsedDocument[]
  readonly messages: readonly PolicyMessage[]
}

/** `file` is its name in messages, `above` the lines in front of the text. Documents of comments only are left out. */
export function parseYaml(file: string, text: string, above: number): ParsedFile {
  const lines = linesOf(text, above)
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: true,
    // Found while reading, with both places.
    uniqueKeys: false,
    prettyErrors: false,
  })
  const template = templateMark(text)
  const documents: ParsedDocument[] = []
  const messages: PolicyMessage[] = []
  for (const yaml of parsed) {
    if (isEmpty(yaml)) continue
    const { document, findings } = readDocument(file, lines, yaml, template !== null)
    documents.push(document)
    if (template === null) messages.push(...findings.map(finding => message(document, finding)))
  }
  if (template !== null) messages.push(templateMessage(file, lines, template))
  return { documents, messages }
}

type YamlDocument = Document.Parsed

function readDocument(file: string, lines: Lines, yaml: YamlDocument, template: boolean) {
  const { entries, findings, readable, root } = readNode(yaml.contents as Node | null, at => positionAt(lines, at).line)
  const syntax = syntaxFindings(yaml)
  const judged = readable && syntax.length === 0 && !template
  const document: ParsedDocument = {
    file,
    lines,
    entries,
    root,
    top: topSpan(yaml),
    readable: judged,
    intact: judged && findings.length === 0,
  }
  return { document, findings: syntax.length > 0 ? syntax : findings }
}

/** A broken line usually makes the parser stumble several times after it; only the first stumble is the mistake. */
function syntaxFindings(yaml: YamlDocument): Finding[] {
  if (yaml.directives.yaml.explicit && yaml.directives.yaml.version !== '1.2') {
    return [
      {
        code: 'FB017',
        path: [],
        text: `%YAML ${yaml.directives.yaml.version}: only YAML 1.2 is read; remove the line`,
      },
    ]
  }
  const first = [...yaml.errors].sort((a, b) => a.pos[0] - b.pos[0])[0]
  if (first !== undefined && /call stack/.test(first.message)) {
    // The parser calls itself for each level, and reports that it ran out of them.
    return [{ code: 'FB014', path: [], text: `nested more than ${MAX_DEPTH} deep`, mark: topSpan(yaml) }]
  }
  if (first !== undefined) return [syntaxFinding('FB010', first)]
  return yaml.warnings.slice(0, 1).map(warning => syntaxFinding('FB017', warning))
}

function syntaxFinding(code: 'FB010' | 'FB017', { message: text, pos }: YAMLError): Finding {
  const said = text.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? text
  return {
    code,
    path: [],
    text: code === 'FB010' ? `not valid YAML: ${said}` : said,
    mark: { start: pos[0], end: pos[1] },
  }
}

function isEmpty({ contents, errors }: YamlDocument): boolean {
  return (
    errors.length === 0 &&
    (contents === null || (isScalar(contents) && contents.source === '' && contents.type === 'PLAIN'))
  )
}

function topSpan({ contents, range }: YamlDocument) {
  const start = contents?.range?.[0] ?? range[0]
  return { start, end: start }
}

/** Offset of the first `{{` that is not in a comment: nothing of ours begins so. */
function templateMark(text: string): number | null {
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', at + 2)) {
    const line = text.slice(text.lastIndexOf('\n', at) + 1, at)
    if (!/(^|\s)#/.test(line)) return at
  }
  return null
}

function templateMessage(file: string, lines: Lines, at: number): PolicyMessage {
  const { line, col } = positionAt(lines, at)
  const text = `looks like an unrendered template at line ${line}: render it first, for instance with helm template`
  return { code: 'FB012', severity: 'error', file, line, col, length: 2, path: '', text, suggestion: null }
}
