import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import { forbear } from '../../docs/shell.js'
import { climb } from '../support/ladder/ladder.js'
import { fields, type KubeObject, list, nameOf, objectsOf, templateOf } from '../support/ladder/objects.js'
import { againstRestricted } from '../support/restricted.js'
import { HOW_TO_GET, kubectls, runTool, type Tool } from '../support/tools.js'

const known = kubectls().filter(({ minor }) => minor >= 29)
const missing = known.length === 0 ? ` with kubectl from 1.29 on: ${HOW_TO_GET}` : ''
const directory = mkdtempSync(join(tmpdir(), 'forbear-kustomize-'))
afterAll(() => rmSync(directory, { recursive: true }))

function build(kubectl: Tool, folder: string): KubeObject[] {
  return objectsOf(runTool(kubectl, ['kustomize', folder]))
}

function named(objects: readonly KubeObject[], name: string): KubeObject {
  return objects.find(object => nameOf(object) === name) as KubeObject
}

describe('the policies of the Kustomize base', () => {
  it('pass check as files', () => {
    expect(readdirSync('deploy/kustomize/base/policies')).toHaveLength(2)
    expect(forbear('check', 'deploy/kustomize/base/policies')).toEqual({ code: 0, output: expect.any(String) })
  })
})

describe.skipIf(known.length === 0)(`the Kustomize example, built${missing}`, () => {
  const newest = known.at(-1) as Tool
  const example = known.length === 0 ? [] : build(newest, 'deploy/kustomize/example')

  it('comes out alike with every kubectl and can be applied', () => {
    for (const kubectl of known) expect(build(kubectl, 'deploy/kustomize/example')).toEqual(example)
    expect(climb(example)).toEqual([])
  })

  it('keeps the name of the ConfigMap, so that an edit replaces no pod', () => {
    const policies = named(example, 'ConfigMap shop-policies')
    expect(policies.metadata?.['labels']).toEqual({ 'forbear.dev/policy': 'true' })
    expect(Object.keys(fields(policies['data']))).toEqual(['ledger.yaml', 'payments.yaml'])
    for (const [file, content] of Object.entries(fields(policies['data']))) {
      writeFileSync(join(directory, file), String(content))
    }
    expect(forbear('check', directory)).toEqual({ code: 0, output: expect.any(String) })
  })

  it.each(['Deployment shop', 'StatefulSet shop-queue', 'DaemonSet shop-agent'])(
    'gives %s the sidecar of inject',
    name => {
      const { metadata, spec } = templateOf(named(example, name)) ?? { metadata: {}, spec: {} }
      const options = { image: 'registry.example.com/forbear:0.1.0', policyConfigMap: 'shop-policies' }
      const injected = inject({ containers: [{ name: 'any', image: 'any' }] }, {}, options).podSpec
      expect(list(spec['initContainers'])[0]).toEqual(list(injected['initContainers'])[0])
      expect(list(spec['volumes'])).toContainEqual(list(injected['volumes'])[0])
      // And a webhook leaves it at that.
      expect(fields(metadata['labels'])['forbear.dev/inject']).toBe('false')
      expect(againstRestricted({ initContainers: list(spec['initContainers']).slice(0, 1) })).toEqual([])
    },
  )

  it('puts it before the init containers of the app, and leaves alone what opts out', () => {
    const names = list(templateOf(named(example, 'Deployment shop'))?.spec['initContainers']).map(({ name }) => name)
    expect(names).toEqual(['forbear', 'migrate'])
    expect(templateOf(named(example, 'Deployment shop-static'))?.spec['initContainers']).toBeUndefined()
  })
})
