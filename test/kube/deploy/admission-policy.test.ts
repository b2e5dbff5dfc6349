import { readFileSync } from 'node:fs'
import { applyPatch } from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import { untype } from '../support/cel-structs.js'
import { climb } from '../support/ladder/ladder.js'
import { type Fields, fields, type KubeObject, list, objectsOf, text } from '../support/ladder/objects.js'
import { type LabelSelector, selects } from '../support/selector.js'
import { celModule, HOW_TO_GET } from '../support/tools.js'

const [policy, binding] = objectsOf(readFileSync('deploy/admission-policy/policy.yaml', 'utf8'))
const spec = fields(policy?.['spec'])
const mutation = text(fields(fields(list(spec['mutations'])[0])['jsonPatch'])['expression'])

interface Environment {
  evaluate(expression: string, variables: object): unknown
  registerFunction(signature: string, run: (...args: never[]) => unknown): Environment
}
interface Cel {
  readonly Environment: new (options: object) => Environment
}

const module = celModule()
const cel = module === undefined ? undefined : ((await import(/* @vite-ignore */ module)) as Cel)

/** `indexOf` is of Kubernetes' own library. */
function evaluator(): Environment {
  const options = { unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false }
  const environment = new (cel as Cel).Environment(options)
  return environment.registerFunction('list.indexOf(dyn): int', (items: unknown[], item: unknown) =>
    BigInt(items.indexOf(item)),
  )
}

/** The pod after the policy, the same pod where a condition does not hold. */
function admit(pod: KubeObject): KubeObject {
  const environment = evaluator()
  const conditions = list(spec['matchConditions']).map(({ expression }) => text(expression))
  if (!conditions.every(condition => environment.evaluate(condition, { object: pod }) === true)) return pod
  const variables: Fields = {}
  for (const { name, expression } of list(spec['variables'])) {
    variables[text(name)] = environment.evaluate(text(expression), { object: pod, variables })
  }
  const patch = environment.evaluate(untype(mutation).expression, { object: pod, variables })
  return applyPatch(structuredClone(pod), plain(patch) as never).newDocument
}

/** CEL's integers are bigints here. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? Number(item) : item)))
}

function pod(podSpec: Fields, annotations: Fields = { 'forbear.dev/policy-configmap': 'shop-policies' }): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shop', annotations }, spec: podSpec }
}
const SHOP = { name: 'shop', image: 'example.com/shop:1' }
const WITH_ALL = {
  initContainers: [{ name: 'migrate', image: 'example.com/shop:1' }],
  containers: [SHOP, { name: 'other', image: 'example.com/other:1', env: [{ name: 'A', value: 'b' }] }],
  volumes: [{ name: 'data', emptyDir: {} }],
}

const OWN = { name: 'FORBEAR_URL', value: 'http://127.0.0.1:15080' }

describe('the admission policy', () => {
  it('has the shape of its kind', () => {
    expect(climb([policy, binding] as KubeObject[])).toEqual([])
    expect(fields(binding?.['spec'])['policyName']).toBe(policy?.metadata?.['name'])
  })

  it('asks for pods that are labelled themselves', () => {
    const selector = fields(spec['matchConstraints'])['objectSelector'] as LabelSelector
    expect(selects(selector, { 'forbear.dev/inject': 'true' })).toBe(true)
    expect(selects(selector, { 'forbear.dev/inject': 'false' })).toBe(false)
    expect(selects(selector, {})).toBe(false)
  })

  it('names for every object in it the type that stands there', () => {
    expect(untype(mutation).misplaced).toEqual([])
    expect(untype('Object.spec{volumes: [Object.spec.volume{name: "a"}]}').misplaced).toEqual(['Object.spec.volume'])
  })

  describe.skipIf(cel === undefined)(`evaluated${cel === undefined ? `, by cel-js: ${HOW_TO_GET}` : ''}`, () => {
    it.each([
      ['of one container', pod({ containers: [SHOP] })],
      ['with init containers, variables and volumes', pod(WITH_ALL)],
      ['that has its own FORBEAR_URL', pod({ ...WITH_ALL, containers: [{ ...SHOP, env: [OWN] }] })],
      ['that names no policies', pod({ containers: [SHOP] }, {})],
    ])('makes of a pod %s what inject makes of it', (_, given) => {
      const admitted = admit(given)
      const options = { image: 'registry.example.com/forbear:0.1.0', kubeVersion: '1.36', kind: 'Pod' }
      expect(admitted['spec']).toEqual(inject(fields(given['spec']), given.metadata, options).podSpec)
      expect(climb([admitted], [])).toEqual([])
    })

    it.each([
      ['on the host network', pod({ containers: [SHOP], hostNetwork: true })],
      ['that it has had already', undefined],
    ])('leaves a pod alone %s', (_, given) => {
      const before = given ?? admit(pod({ containers: [SHOP] }))
      expect(admit(before)).toEqual(before)
    })
  })
})
