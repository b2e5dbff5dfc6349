import { describe, expect, it } from 'vitest'
import { formatMessage, formatMessages, type PolicyMessage } from '../../src/policy/messages.js'
import { load } from './set.js'

const message: PolicyMessage = {
  code: 'FB030',
  severity: 'error',
  file: 'policies/a.yaml',
  line: 2,
  col: 3,
  length: 10,
  path: 'spec.retry.maxAtempts',
  text: 'unknown key "maxAtempts"',
  suggestion: 'maxAttempts',
}

describe('a message', () => {
  it('is one line with place, path, text, nearest word and code', () => {
    expect(formatMessage(message)).toBe(
      'policies/a.yaml:2:3  spec.retry.maxAtempts  unknown key "maxAtempts"; did you mean maxAttempts? [FB030]',
    )
  })

  it('says that it is only a warning', () => {
    expect(formatMessage({ ...message, severity: 'warning', suggestion: null })).toContain(
      'warning: unknown key "maxAtempts" [FB030]',
    )
  })

  it('names a file as a whole without a line', () => {
    expect(formatMessage({ ...message, line: 0, col: 0, path: '', suggestion: null, text: 'is empty' })).toBe(
      'policies/a.yaml  is empty [FB030]',
    )
  })

  it('keeps control characters of the policy away from terminals and logs', () => {
    expect(formatMessage({ ...message, text: 'a\u001b[31m\nb\u202e\u0085c' })).toContain(
      'a\ufffd[31m\ufffdb\ufffd\ufffdc',
    )
  })

  it('shows the source line with a caret under what is wrong', () => {
    const sources = new Map([['policies/a.yaml', 'retry:\r\n  maxAtempts: 3\r\n']])
    expect(formatMessages([message], { sources }).split('\n').slice(1)).toEqual([
      '    2 |   maxAtempts: 3',
      '      |   ^^^^^^^^^^',
    ])
  })

  it('shows a part of a very long line', () => {
    const sources = new Map([['policies/a.yaml', `\n${' '.repeat(500)}maxAtempts: 3`]])
    const [, line, caret] = formatMessages([{ ...message, col: 501 }], { sources }).split('\n')
    expect(line?.length).toBeLessThan(140)
    expect(line?.indexOf('maxAtempts')).toBe(caret?.indexOf('^'))
  })

  it('is coloured only when asked', () => {
    expect(formatMessages([message])).not.toContain('\u001b')
    expect(formatMessages([message], { color: true })).toContain('\u001b[31m')
  })
})

describe('the messages of a set', () => {
  it('come by file and position', () => {
    const bad = 'apiVersion: x/v1\nkind: X\n---\nkind: Y\napiVersion: x/v1\n'
    const places = load({ 'b.yaml': bad, 'a.yaml': bad }).messages.map(({ file, line }) => `${file}:${line}`)
    expect(places).toEqual(['a.yaml:2', 'a.yaml:4', 'b.yaml:2', 'b.yaml:4'])
  })
})
