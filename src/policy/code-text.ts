/** What a message code means, for `forbear explain --code`. */
import { CODE_EXAMPLES, type CodeExample, type ExampleSide } from './generated/code-examples.js'
import { nearest } from './nearest.js'

export type CodeText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string }

/** `code` as somebody types it: `fb36` is FB036. */
export function codeText(code: string): CodeText {
  const wanted = code.toUpperCase().replace(/^(?:FB)?(\d{1,3})$/, (_, digits: string) => `FB${digits.padStart(3, '0')}`)
  const found = CODE_EXAMPLES.find(example => example.code === wanted)
  if (found !== undefined) return { ok: true, text: textOf(found) }
  // Of two numbers none is near.
  const codes = /^FB\d{3}$/.test(wanted) ? [] : CODE_EXAMPLES.map(example => example.code)
  const suggestion = nearest(wanted, codes)
  const hint = suggestion === null ? 'they are listed in policies/README.md' : `did you mean ${suggestion}?`
  return { ok: false, error: `there is no code ${JSON.stringify(code)}; ${hint}` }
}

function textOf({ code, severity, title, meaning, wrong, message, right }: CodeExample): string {
  return [
    `${code}: ${title} (${severity})`,
    meaning,
    'Wrong:',
    sideText(wrong),
    indented(message),
    'Right:',
    sideText(changed(wrong, right)),
  ]
    .map(part => `${part}\n`)
    .join('\n')
}

function sideText(side: ExampleSide): string {
  switch (side.kind) {
    case 'spec':
      return indented(
        `# policies/payments.yaml\n…\nspec:\n  target: https://payments.example.com\n${indented(side.text, 2)}`,
      )
    case 'shell':
      return indented(side.text.replace(/^(?!#)/gm, '$ '))
    case 'files':
      return Object.entries(side.files)
        .map(([name, text]) => indented(`# ${name}\n${text}`))
        .join('\n\n')
  }
}

/** Files that are the same on both sides are shown once. */
function changed(wrong: ExampleSide, right: ExampleSide): ExampleSide {
  if (wrong.kind !== 'files' || right.kind !== 'files') return right
  const files = Object.entries(right.files).filter(([name, text]) => wrong.files[name] !== text)
  return { kind: 'files', files: Object.fromEntries(files) }
}

function indented(text: string, by = 4): string {
  return text.trimEnd().replace(/^(?=.)/gm, ' '.repeat(by))
}
