import { isFields, isList } from '../inject/fields.js'

/** How a JSON or a flow collection is laid out. */
export interface FlowStyle {
  /** `{"a":1}`, without a blank behind colon and comma. */
  readonly dense: boolean
  /** For one value over several lines; `null`: on one line. */
  readonly lines: { readonly indent: string; readonly step: string; readonly lineBreak: string } | null
}

/** JSON, which is YAML of either version, too. */
export function flowText(value: unknown, style: FlowStyle): string {
  if (style.dense) return JSON.stringify(value)
  if (style.lines === null) return inline(value)
  const { indent, step, lineBreak } = style.lines
  return JSON.stringify(value, null, step).replaceAll('\n', lineBreak + indent)
}

export function flowEntry(key: string, value: unknown, style: FlowStyle): string {
  return `${JSON.stringify(key)}:${style.dense ? '' : ' '}${flowText(value, style)}`
}

function inline(value: unknown): string {
  if (isList(value)) return `[${value.map(inline).join(', ')}]`
  if (!isFields(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${inline(inner)}`)
    .join(', ')}}`
}
