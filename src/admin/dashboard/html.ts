/** HTML as a value that cannot be mixed up with text: whatever is put into it is escaped, unless it is HTML itself. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, next, index) => text + rendered(parts[index - 1] ?? '') + next))
}

export const NOTHING = new Html('')

function rendered(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n')
  return String(part).replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)
}
