/** Variables and template tags that a tool was to replace before the file came here. */
import { type Finding, type ParsedDocument, type Path, valueAt } from './document.js'
import { withoutSecrets } from './schema-words.js'
import type { Explained, Line } from './yaml-lines.js'

/** `${NAME}`, `$(NAME)`, `<% … %>` and `{% … %}`: no key or value of ours holds one where it was not left over. */
const BRACED = /\$\{[A-Za-z_][^}\s]{0,100}\}|\$\([A-Za-z_]\w*\)|<%.{0,60}?%>|\{%.{0,60}?%\}/
const BARE = /\$[A-Za-z_]\w*/

/** In a line that is not valid YAML. */
export function variableInLine({ start, text }: Line): Explained | null {
  const found = BRACED.exec(text.replace(/(^|\s)#.*$/, ''))
  if (found === null) return null
  const at = start + found.index
  return { code: 'FB012', text: leftText(found[0]), mark: { start: at, end: at + found[0].length } }
}

/** What a shell or a container expands; `/$metadata` is a path, and `$` alone may be in a header name. */
const WHOLE = /^\$[A-Z_][A-Z0-9_]*$/

/** Values of header fields are text of any kind. */
const FREE = new Set(['headers', 'onHeaders'])

/** In texts that may be nearly anything. `metadata` is for whoever wrote it. */
export function variableFindings({ root }: ParsedDocument): Finding[] {
  const findings: Finding[] = []
  const seen = new Set<unknown>()
  const walk = (value: unknown, path: Path): void => {
    if (typeof value === 'string') {
      const found = (BRACED.exec(value) ?? WHOLE.exec(value))?.[0]
      if (found !== undefined) findings.push({ code: 'FB012', path, text: leftText(withoutSecrets(found)) })
    } else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value)
      const isList = Array.isArray(value)
      for (const [key, inner] of Object.entries(value)) {
        if (!FREE.has(key)) walk(inner, [...path, isList ? Number(key) : key])
      }
    }
  }
  walk(valueAt(root, ['spec']), ['spec'])
  return findings
}

/** The message about a value is that of the variable in it, where one was left. */
export function blameVariable({ root }: ParsedDocument, finding: Finding): Finding {
  if (!/^FB03[457]$/.test(finding.code)) return finding
  const isKey = finding.mark === 'key'
  const value = isKey ? finding.path.at(-1) : valueAt(root, finding.path)
  if (typeof value !== 'string') return finding
  const shown = withoutSecrets(value)
  const found = (BRACED.exec(shown) ?? BARE.exec(shown))?.[0]
  if (found === undefined) return finding
  return { code: 'FB012', path: finding.path, ...(isKey && { mark: 'key' }), text: leftText(found) }
}

function leftText(found: string): string {
  const short = found.length > 60 ? `${found.slice(0, 60)}…` : found
  if (/^[<{]/.test(found)) return `${short} is left: looks like an unrendered template, render it first`
  // What envsubst leaves alone.
  const remedy = found.startsWith('$(') ? 'write the value' : 'run envsubst first'
  return `${short} is left: variables are not expanded: ${remedy}`
}
