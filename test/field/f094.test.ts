import { expect, it } from 'vitest'
import { addedLines, deployment, inject, uninject } from '../kube/inject/run.js'

const volumes = (modes: readonly string[]) =>
  `volumes:\n${modes.map((mode, index) => `- name: v${index}\n  configMap: { name: c, defaultMode: ${mode} }\n`).join('')}`

const ODD = ['0644', '0o644', '420', '0x1a4', '1_000', '!!int "0644"', "'0644'"]

it('F094: whatever a number is written like, inject leaves it as it is written', async () => {
  const text = deployment(volumes(ODD))
  const { stdout } = await inject(text)
  expect(addedLines(text, stdout).length).toBeGreaterThan(10)
  expect(stdout.match(/defaultMode: [^ ]+/g)).toEqual(text.match(/defaultMode: [^ ]+/g))
  expect((await uninject(stdout)).stdout).toBe(text)
})

it('F094: words that YAML 1.1 takes for something else stay as well, as keys and as values', async () => {
  const words = [
    'y',
    'n',
    'no',
    'on',
    'Off',
    '~',
    '1:30',
    '0b1',
    '.inf',
    '2024-01-01',
    '=',
    '"yes"',
    "'no'",
    '1e3',
    '+1',
  ]
  const text = deployment(`tolerations:\n${words.map(word => `- ${word}: ${word} # ${word}\n`).join('')}`)
  const { stdout, stderr } = await inject(text)
  expect(stdout, stderr).not.toBe('')
  addedLines(text, stdout)
  expect((await uninject(stdout)).stdout).toBe(text)
})

it('F094: what inject writes itself means the same in YAML 1.1 and 1.2', async () => {
  const { parse } = await import('yaml')
  for (const name of ['y', 'no', 'on', '1234', '0644', '1e3']) {
    const { stdout } = await inject(deployment('', { 'policy-configmap': name, upstreams: 'n,y=9101' }))
    expect(parse(stdout, { version: '1.1' })).toEqual(parse(stdout, { version: '1.2' }))
    expect(parse(stdout, { version: '1.1' }).spec.template.spec.volumes[0].configMap.name).toBe(name)
  }
})
