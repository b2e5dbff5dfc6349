import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { messagesOf } from './set.js'

const reference = readFileSync(fileURLToPath(new URL('../../policies/README.md', import.meta.url)), 'utf8')
const samples = [...reference.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text ?? '')

it('the policy reference has samples', () => {
  expect(samples.length).toBeGreaterThan(1)
})

it.each(samples)('a sample of the policy reference loads without a message (%#)', text => {
  expect(messagesOf(text)).toEqual([])
})
