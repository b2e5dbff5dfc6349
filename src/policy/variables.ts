/** Variables and template tags that a tool was to replace before the file came here. */
import { type Finding, type ParsedDocument, valueAt } from './document.js'
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

/** The message about a value is that of the variable in it, where one was left. */
export function blameVariable({ root }: ParsedDocument, finding: Finding): Finding {
  if (!/^FB03[457]$/.test(finding.code) || finding.mark === 'key') return finding
  const value = valueAt(root, finding.path)
  if (typeof value !== 'string') return finding
  const shown = withoutSecrets(value)
  const found = (BRACED.exec(shown) ?? BARE.exec(shown))?.[0]
  return found === undefined ? finding : { code: 'FB012', path: finding.path, text: leftText(found) }
}

function leftText(found: string): string {
  const short = found.length > 60 ? `${found.slice(0, 60)}…` : found
  if (/^[<{]/.test(found)) return `${short} is left: looks like an unrendered template, render it first`
  // What envsubst leaves alone.
  const remedy = found.startsWith('$(') ? 'write the value' : 'run envsubst first'
  return `${short} is left: variables are not expanded: ${remedy}`
}
