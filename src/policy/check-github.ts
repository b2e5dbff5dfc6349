/** Messages as workflow commands of GitHub Actions, which shows them at their lines in a pull request. */
import { pathFrom, plainText, regionOf } from './check-region.js'
import { printable, SourceLines } from './excerpt.js'
import type { PolicyMessage } from './messages.js'

/** @param cwd the root of the repository */
export function githubCommands(
  list: readonly PolicyMessage[],
  sources: ReadonlyMap<string, string>,
  cwd: string,
): string {
  const lines = new SourceLines(sources)
  return list.map(message => `${command(message, lines, cwd)}\n`).join('')
}

function command(message: PolicyMessage, lines: SourceLines, cwd: string): string {
  const region = regionOf(message, lines)
  const properties = {
    file: message.file === '' ? null : pathFrom(cwd, message.file),
    line: region?.line ?? null,
    col: region?.column ?? null,
    endColumn: region?.endColumn ?? null,
    title: message.code,
  }
  const written = Object.entries(properties).flatMap(([key, value]) =>
    value === null ? [] : [`${key}=${propertyText(String(value))}`],
  )
  return `::${message.severity} ${written.join(',')}::${dataText(plainText(message))}`
}

/** As the runner undoes it: the percent sign first, then what would end the line. Job logs are terminals too. */
function dataText(text: string): string {
  return printable(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'))
}

function propertyText(text: string): string {
  return dataText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
