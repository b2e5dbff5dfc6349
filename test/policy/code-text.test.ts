import { describe, expect, it } from 'vitest'
import { codeText } from '../../src/policy/code-text.js'
import { CODE_EXAMPLES } from '../../src/policy/generated/code-examples.js'

describe('the text about a message code', () => {
  it('has title, severity, meaning and the two sides of the example', () => {
    expect(codeText('FB036')).toEqual({
      ok: true,
      text: `FB036: out of range (error)

A number, duration or size lies below or above what the field takes.

Wrong:

    # policies/payments.yaml
    …
    spec:
      target: https://payments.example.com
      retry: { maxAttempts: 0 }

    ${CODE_EXAMPLES.find(({ code }) => code === 'FB036')?.message}

Right:

    # policies/payments.yaml
    …
    spec:
      target: https://payments.example.com
      retry: { maxAttempts: 1 }
`,
    })
  })

  it('shows commands where an example is about files', () => {
    expect(codeText('FB002')).toMatchObject({ text: expect.stringContaining('    $ mkdir policies && cp ') })
  })

  it('shows of the right files only those that differ', () => {
    const { text } = codeText('FB041') as { text: string }
    expect(text.match(/# policies\/payments\.yaml/g)).toHaveLength(1)
    expect(text.match(/# policies\/search\.yaml/g)).toHaveLength(2)
  })

  it.each(['fb036', '36', '036'])('is found by %s, too', code => {
    expect(codeText(code)).toEqual(codeText('FB036'))
  })

  it('names the nearest code for one that there is not', () => {
    expect(codeText('FX036')).toEqual({ ok: false, error: 'there is no code "FX036"; did you mean FB036?' })
    expect(codeText('FB039')).toEqual({
      ok: false,
      error: 'there is no code "FB039"; they are listed in policies/README.md',
    })
    expect(codeText('E0308')).toEqual({
      ok: false,
      error: 'there is no code "E0308"; they are listed in policies/README.md',
    })
  })
})
