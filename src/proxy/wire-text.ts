/** Text from an upstream that Node's writer would refuse with an exception. */
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import type { RawHeaders } from '../pipeline/ports.js'

/** RFC 9112 §4: tab, space, visible and obs-text characters. */
const NOT_REASON = /[^\t\x20-\x7e\x80-\xff]/g

export function cleanStatusText(status: number, text: string): string {
  return text === STATUS_CODES[status] ? text : text.replace(NOT_REASON, '')
}

/** The fields whose name and value can be written. */
export function withoutInvalidFields(fields: RawHeaders): [string, string][] {
  const kept: [string, string][] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name, value] = [fields[i] as string, fields[i + 1] as string]
    if (isWritable(name, value)) kept.push([name, value])
  }
  return kept
}

function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
