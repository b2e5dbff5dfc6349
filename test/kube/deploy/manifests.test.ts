import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COMMAND, forbear } from '../../docs/shell.js'
import { climbInjected } from '../support/ladder/injection.js'
import { climb, wholeKubectls } from '../support/ladder/ladder.js'
import { type Fields, fields, list, objectsOf, templateOf, text } from '../support/ladder/objects.js'
import { lostInRoundTrip } from '../support/ladder/round-trip.js'
import { againstRestricted } from '../support/restricted.js'

const FOLDER = 'deploy/manifests'
const IMAGE = 'registry.example.com/forbear:0.1.0'
const FORMS = {
  injected: { flags: [], options: { image: IMAGE } },
  classic: {
    flags: ['--kube-version', '1.27', '--quit-endpoint'],
    options: { image: IMAGE, kubeVersion: '1.27', quitEndpoint: true },
  },
} as const
const CASES = (['injected', 'classic'] as const).flatMap(form =>
  ['deployment', 'job'].map(name => ({ form, name, ...FORMS[form] })),
)
const read = (path: string): string => readFileSync(join(FOLDER, path), 'utf8')
const directory = mkdtempSync(join(tmpdir(), 'forbear-manifests-'))
afterAll(() => rmSync(directory, { recursive: true }))

const policies = objectsOf(read('policies.yaml'))

describe('the plain manifests', () => {
  it('hold policies that check accepts, under the label that has them checked', () => {
    for (const [file, content] of Object.entries(fields(policies[0]?.['data']))) {
      writeFileSync(join(directory, file), text(content))
    }
    expect(forbear('check', directory)).toEqual({ code: 0, output: expect.any(String) })
    expect(fields(policies[0]?.metadata?.['labels'])).toEqual({ 'forbear.dev/policy': 'true' })
  })

  it('can be applied with or without a sidecar', () => {
    const folders = ['plain', 'injected', 'classic'].map(folder =>
      ['deployment', 'job'].flatMap(name => objectsOf(read(`${folder}/${name}.yaml`))),
    )
    for (const workloads of folders) expect(climb([...policies, ...workloads], [])).toEqual([])
    expect(wholeKubectls().flatMap(kubectl => lostInRoundTrip(folders.flat(), kubectl))).toEqual([])
  })

  it.each(CASES)('$form $name: is what inject makes of the plain one', ({ form, name, flags, options }) => {
    const args = [COMMAND, 'inject', '--image', IMAGE, ...flags, `${FOLDER}/plain/${name}.yaml`]
    const written = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    // After a change of inject: write that output to the file, and look at the difference.
    expect(written).toBe(read(`${form}/${name}.yaml`))
    expect(climbInjected(read(`plain/${name}.yaml`), options, [])).toEqual([])
  })

  it.each(CASES)('$form $name: mounts those policies as a directory and is restricted', ({ form, name }) => {
    const [object] = objectsOf(read(`${form}/${name}.yaml`))
    const spec = (object && templateOf(object)?.spec) as Fields
    const sidecar = [...list(spec['initContainers']), ...list(spec['containers'])].find(c => c['name'] === 'forbear')
    expect(list(sidecar?.['volumeMounts'])).toEqual([
      { name: 'forbear-policies', mountPath: '/etc/forbear', readOnly: true },
    ])
    expect(list(spec['volumes'])).toContainEqual({
      name: 'forbear-policies',
      configMap: { name: policies[0]?.metadata?.['name'] },
    })
    expect(againstRestricted({ ...spec, initContainers: [], containers: [sidecar] })).toEqual([])
  })
})
