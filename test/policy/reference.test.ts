import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { CODES } from '../../src/policy/codes.js'
import { messagesOf } from './set.js'

const reference = readFileSync(fileURLToPath(new URL('../../policies/README.md', import.meta.url)), 'utf8')
const blocks = [...reference.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text ?? '')
const samples = blocks.filter(text => text.includes('apiVersion: forbear.dev/'))

it('the policy reference has samples', () => {
  expect(samples.length).toBeGreaterThan(2)
})

it.each(samples)('a sample of the policy reference loads without a message (%#)', text => {
  expect(messagesOf(text)).toEqual([])
})

it.each(samples)('each document of a sample names its schema to an editor (%#)', text => {
  for (const document of text.split(/^---\n/m)) {
    expect(document).toMatch(/^# yaml-language-server: \$schema=\.\.\/schemas\/[a-z]+\.schema\.json\n/)
  }
})

it('every field that takes a number, duration, size or text of its own has an example', () => {
  const section = reference.split('<!-- fields:begin -->')[1]?.split('<!-- fields:end -->')[0] ?? ''
  const rows = section.split('\n').filter(line => line.startsWith('| `'))
  const bare = rows.map(row => row.split(/(?<!\\)\|/).map(cell => cell.trim())).filter(cells => cells[4] === '')
  expect(rows.length).toBeGreaterThan(50)
  // Of these the values are all there are.
  expect(bare.filter(cells => !/^(`[a-z]+`(, )?)+$/.test(cells[2] ?? '')).map(cells => cells[1])).toEqual([])
})

it('every code has a heading that can be linked to', () => {
  const headings = [...reference.matchAll(/^### (FB\d{3}): (.+)$/gm)].map(([, code, title]) => [code, title])
  expect(headings).toEqual(Object.entries(CODES).map(([code, { title }]) => [code, title]))
})
