/** A file of YAML, or a piece of one, into its documents: 1.2 core schema, merge keys, no coercion, bounded against bombs. */
import { type Document, isScalar, type Node, type YAMLWarning } from 'yaml'
import { type Finding, message, type ParsedDocument } from './document.js'
import { type Lines, linesOf, positionAt } from './lines.js'
import { fileMessage, type PolicyMessage } from './messages.js'
import { explainMistake, stumbleAt } from './yaml-mistakes.js'
import { readNode } from './yaml-reader.js'
import { type Room, readStream, type Stop } from './yaml-stream.js'

export interface ParsedFile {
  readonly documents: readonly ParsedDocument[]
  readonly messages: readonly PolicyMessage[]
  /** The file has more than may be read. */
  readonly stopped: boolean
}

/**
 * `file` is its name in messages, `above` the lines in front of the text, `room` what the file may still have. Documents
 * of comments only are left out.
 */
export function parseYaml(file: string, text: string, above: number, room: Room): ParsedFile {
  const lines = linesOf(text, above)
  const { documents: parsed, tokens, stop } = readStream(text, room)
  const template = templateMark(text)
  const documents: ParsedDocument[] = []
  const messages: PolicyMessage[] = []
  for (const yaml of parsed) {
    if (isEmpty(yaml)) continue
    const { document, findings } = readDocument(file, text, lines, yaml, template !== null)
    documents.push(document)
    if (template === null) messages.push(...findings.map(finding => message(document, finding)))
  }
  if (template !== null) messages.push(templateMessage(file, lines, template))
  if (stop !== null) messages.push(placedMessage(file, lines, stop))
  const [first, ...others] = documents
  return { documents: first === undefined ? [] : [{ ...first, tokens }, ...others], messages, stopped: stop !== null }
}

type YamlDocument = Document.Parsed

function readDocument(file: string, text: string, lines: Lines, yaml: YamlDocument, template: boolean) {
  const { entries, findings, readable, root } = readNode(yaml.contents as Node | null, at => positionAt(lines, at).line)
  const syntax = syntaxFindings(text, yaml)
  const judged = readable && syntax.length === 0 && !template
  const document: ParsedDocument = {
    file,
    lines,
    entries,
    root,
    top: topSpan(yaml),
    tokens: 0,
    readable: judged,
    intact: judged && findings.length === 0,
  }
  return { document, findings: syntax.length > 0 ? syntax : findings }
}

/** A broken line usually makes the parser stumble several times after it; only the first stumble is the mistake. */
function syntaxFindings(text: string, yaml: YamlDocument): Finding[] {
  const { explicit, version } = yaml.directives.yaml
  if (explicit && version !== '1.2') return [directiveFinding(text, yaml, `%YAML ${version}: only YAML 1.2 is read`)]
  const first = [...yaml.errors].sort((a, b) => stumbleAt(text, a) - stumbleAt(text, b))[0]
  if (first !== undefined) return [{ code: 'FB010', path: [], ...explainMistake(text, yaml, first) }]
  return yaml.warnings.slice(0, 1).map(warning => unsupported(text, yaml, warning))
}

/** A tag of another tool, or a directive. */
function unsupported(text: string, yaml: YamlDocument, { code, pos: [start, end] }: YAMLWarning): Finding {
  if (code === 'BAD_DIRECTIVE') {
    const line = /^%.*?\s*$/m.exec(text.slice(text.lastIndexOf('\n', start) + 1))?.[0].trim() ?? '%'
    return directiveFinding(text, yaml, `${line}: the only line with % that is read is %YAML 1.2`)
  }
  const tag = text.slice(start, end)
  const said = `${tag} is a tag, and tags are not supported: remove it, or put the value in quotes if it begins with !`
  return { code: 'FB017', path: [], text: said, mark: { start, end } }
}

/** At the last line with % before the document. */
function directiveFinding(text: string, { contents, range }: YamlDocument, said: string): Finding {
  const above = text.slice(0, contents?.range?.[0] ?? range[0])
  const start = /^%(?![\s\S]*^%)/m.exec(above)?.index ?? 0
  const end = /[\r\n]|$/.exec(text.slice(start))?.index ?? 0
  return { code: 'FB017', path: [], text: `${said}; remove the line`, mark: { start, end: start + end } }
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
  const { line } = positionAt(lines, at)
  const text = `looks like an unrendered template at line ${line}: render it first, for instance with helm template`
  return placedMessage(file, lines, { code: 'FB012', text, offset: at }, 2)
}

function placedMessage(file: string, lines: Lines, { code, text, offset }: Stop, length = 1): PolicyMessage {
  return { ...fileMessage(code, file, text), ...positionAt(lines, offset), length }
}
