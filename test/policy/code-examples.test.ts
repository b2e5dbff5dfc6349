import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CODES } from '../../src/policy/codes.js'
import { CODE_EXAMPLES, type ExampleSide } from '../../src/policy/generated/code-examples.js'
import { loadPolicies } from '../../src/policy/load.js'
import { formatMessage } from '../../src/policy/messages.js'
import { readPolicyDirectory } from '../../src/policy/source.js'
import { upstream } from './set.js'

const root = mkdtempSync(join(tmpdir(), 'forbear-examples-'))
afterAll(() => rmSync(root, { recursive: true }))

/** What the loader says of one side of an example, read from files as a directory called `policies`. */
function messagesOf(side: ExampleSide): string[] {
  const cwd = mkdtempSync(join(root, 'set-'))
  if (side.kind === 'shell') {
    writeFileSync(join(cwd, 'payments.yaml'), upstream())
    execFileSync('bash', ['-euc', side.text], { cwd })
  } else {
    for (const [name, text] of Object.entries(filesOf(side))) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true })
      writeFileSync(join(cwd, name), text)
    }
  }
  const { messages } = loadPolicies(readPolicyDirectory(join(cwd, 'policies')), { mode: 'all', generation: 1 })
  return messages.map(message => formatMessage(message).replaceAll(`${cwd}/`, ''))
}

function filesOf(side: ExampleSide): Readonly<Record<string, string>> {
  return side.kind === 'files' ? side.files : { 'policies/payments.yaml': upstream(side.text) }
}

describe('the catalogue of message codes', () => {
  it('has an example of every code, in their order, with severity and title', () => {
    expect(CODE_EXAMPLES.map(({ code, severity, title }) => [code, { severity, title }])).toEqual(Object.entries(CODES))
  })

  it.each(CODE_EXAMPLES)('$code: the wrong policies give the message of the example and no other', example => {
    const messages = messagesOf(example.wrong)
    // These count what is not shown.
    const shown = ['FB019', 'FB069'].includes(example.code) ? messages.slice(-1) : messages
    expect(shown).toEqual([example.message])
    expect(example.message).toMatch(new RegExp(` \\[${example.code}\\]$`))
  })

  it.each(CODE_EXAMPLES)('$code: the right policies give none', example => {
    expect(messagesOf(example.right)).toEqual([])
  })

  it.each(CODE_EXAMPLES)('$code: says what it means in a sentence', ({ meaning }) => {
    expect(meaning).toMatch(/^[A-Z`].{20,}\.$/)
  })
})
