import { readFileSync } from 'node:fs'
import type { EffectivePolicy } from '../../../src/core/snapshot.js'
import { samplesOf } from '../../docs/samples.js'
import { snapshotOf } from '../../policy/set.js'

/** What is in force for an Upstream that writes nothing but `policyRef: NAME`, NAME being `policies/NAME.yaml`. */
export function shipped(name: string): EffectivePolicy {
  return referred(name, readFileSync(`policies/${name}.yaml`, 'utf8'))
}

/** The same for a Policy that `policies/README.md` shows. */
export function shown(name: string): EffectivePolicy {
  const samples = samplesOf('', readFileSync('policies/README.md', 'utf8'))
  const sample = samples.find(({ text }) => text.includes(`kind: Policy\nmetadata: { name: ${name} }`))
  if (sample === undefined) throw new Error(`policies/README.md shows no Policy ${name}`)
  return referred(name, sample.text)
}

/** What is in force where no Policy says anything. */
export function builtIn(): EffectivePolicy {
  return inForce({ 'upstream.yaml': upstream('') })
}

function referred(name: string, text: string): EffectivePolicy {
  return inForce({ 'policy.yaml': text, 'upstream.yaml': upstream(`, policyRef: ${name}`) })
}

function upstream(more: string): string {
  const spec = `{ target: http://api.example.com${more} }`
  return `apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: api }\nspec: ${spec}\n`
}

function inForce(texts: Readonly<Record<string, string>>): EffectivePolicy {
  const found = snapshotOf(texts).upstreams.get('api')
  if (found === undefined) throw new Error('the upstream is not in the snapshot')
  return found.policy
}
