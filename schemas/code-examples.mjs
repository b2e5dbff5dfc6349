/** The catalogue of message codes: from schemas/code-examples.yaml, with title and severity from src/policy/codes.ts. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const CODE = /^ {2}(FB\d{3}): (error|warning)\('(.+)'\),$/gm

/** In the order of codes.ts. Fails for a code without an example and for an example without a code. */
export function codeExamples(root) {
  const table = readFileSync(`${root}/src/policy/codes.ts`, 'utf8')
  const examples = new Map(
    parse(readFileSync(`${root}/schemas/code-examples.yaml`, 'utf8'), { merge: true }).map(one => [one.code, one]),
  )
  const list = [...table.matchAll(CODE)].map(([, code, severity, title]) => {
    const example = examples.get(code)
    if (example === undefined) throw new Error(`schemas/code-examples.yaml has no example of ${code}`)
    examples.delete(code)
    const { meaning, message, wrong, right } = example
    return { code, severity, title, meaning, wrong: sideOf(wrong), message, right: sideOf(right) }
  })
  if (examples.size > 0) throw new Error(`src/policy/codes.ts has no ${[...examples.keys()].join(', ')}`)
  return list
}

function sideOf(side) {
  if (typeof side === 'string') return { kind: 'spec', text: side }
  if (typeof side.shell === 'string') return { kind: 'shell', text: side.shell }
  return { kind: 'files', files: side }
}

export function examplesModule(banner, list) {
  return `/** ${banner} */

/** A set of policies: lines under \`spec\` of an Upstream, whole files by path, or commands that make the directory. */
export type ExampleSide =
  | { readonly kind: 'spec' | 'shell'; readonly text: string }
  | { readonly kind: 'files'; readonly files: Readonly<Record<string, string>> }

export interface CodeExample {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly title: string
  readonly meaning: string
  readonly wrong: ExampleSide
  /** As \`forbear check\` prints it. */
  readonly message: string
  readonly right: ExampleSide
}

export const CODE_EXAMPLES: readonly CodeExample[] = ${JSON.stringify(list, null, 2)}
`
}

/** The catalogue as Markdown, a heading for each code. */
export function messagesSection(list) {
  return list
    .map(({ code, severity, title, meaning, wrong, message, right }) =>
      [
        `### ${code}: ${title}`,
        '',
        `*${severity === 'error' ? 'Error' : 'Warning'}.* ${meaning} Wrong:`,
        '',
        sideBlocks(wrong, 'wrong'),
        '',
        block('text', '', `${message}\n`),
        '',
        'Right:',
        '',
        sideBlocks(changed(wrong, right), 'right'),
        '',
      ].join('\n'),
    )
    .join('\n')
}

/** Files that are the same on both sides are shown once. */
function changed(wrong, right) {
  if (wrong.kind !== 'files' || right.kind !== 'files') return right
  const files = Object.entries(right.files).filter(([name, text]) => wrong.files[name] !== text)
  return { kind: 'files', files: Object.fromEntries(files) }
}

const block = (language, mode, text) => `\`\`\`${mode === '' ? language : `${language} ${mode}`}\n${text}\`\`\``

function sideBlocks(side, mode) {
  if (side.kind === 'spec') return block('yaml', mode, side.text)
  if (side.kind === 'shell') return block('sh', 'example', `${side.text}\n`)
  const files = Object.entries(side.files)
  return files.map(([name, text]) => block('yaml', mode, `# ${name}\n${text}`)).join('\n\n')
}
