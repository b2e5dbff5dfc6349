/** Messages as SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format), which code scanning services read. */
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pathFrom, plainText, type Region, regionOf } from './check-region.js'
import { codeText } from './code-text.js'
import { CODES, type MessageCode } from './codes.js'
import { SourceLines } from './excerpt.js'
import { CODE_EXAMPLES } from './generated/code-examples.js'
import type { PolicyMessage } from './messages.js'

export interface SarifContext {
  /** Of forbear. */
  readonly version: string
  /** The root of the repository. */
  readonly cwd: string
}

export function sarifLog(
  list: readonly PolicyMessage[],
  sources: ReadonlyMap<string, string>,
  { version, cwd }: SarifContext,
) {
  const lines = new SourceLines(sources)
  const codes = [...new Set(list.map(({ code }) => code))].sort()
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'forbear', version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        results: list.map(message => ({
          ruleId: message.code,
          ruleIndex: codes.indexOf(message.code),
          level: message.severity,
          message: { text: plainText(message) },
          // A set as a whole has no place.
          locations: message.file === '' ? [] : [locationOf(message, regionOf(message, lines), cwd)],
        })),
      },
    ],
  }
}

function ruleOf(code: MessageCode) {
  const { title, severity } = CODES[code]
  const meaning = CODE_EXAMPLES.find(example => example.code === code)?.meaning ?? title
  const help = codeText(code)
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: meaning },
    ...(help.ok ? { help: { text: help.text } } : {}),
    defaultConfiguration: { level: severity },
  }
}

function locationOf({ file, path }: PolicyMessage, region: Region | null, cwd: string) {
  return {
    physicalLocation: {
      artifactLocation: artifactOf(pathFrom(cwd, file)),
      ...(region === null ? {} : { region: regionJson(region) }),
    },
    ...(path === '' ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
  }
}

function artifactOf(path: string) {
  if (isAbsolute(path)) return { uri: pathToFileURL(path).href }
  // A relative reference (RFC 3986 §4.2): a colon in it would pass for the end of a scheme.
  return { uri: path.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' }
}

function regionJson({ line, column, endColumn }: Region) {
  return { startLine: line, startColumn: column, ...(endColumn === null ? {} : { endColumn }) }
}
