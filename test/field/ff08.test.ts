import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inject } from '../kube/inject/run.js'

const text = readFileSync(new URL('./fixtures/ff08-helm-unrendered.yaml', import.meta.url), 'utf8')

it('FF08: a chart that was not rendered is refused with the first line that shows it, and nothing comes out', async () => {
  const { code, stdout, stderr } = await inject(text)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^a\.yaml:4: Deployment .*this looks like an unrendered template at line 4\n {2}run helm template first\n/,
  )
})
