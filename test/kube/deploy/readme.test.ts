import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SETTING_NAMES } from '../../../src/kube/inject/names.js'
import { read, samplesOf } from '../../docs/samples.js'
import { clusterShell } from '../support/cluster-shell.js'
import { climb } from '../support/ladder/ladder.js'
import { nameOf, objectsOf } from '../support/ladder/objects.js'
import { HOW_TO_GET, helms, kubectls } from '../support/tools.js'

const README = 'deploy/README.md'
const samples = samplesOf(README, read(README)).filter(({ mode }) => mode === 'cluster')
const kubectl = kubectls().findLast(({ minor }) => minor >= 29)
const helm = helms().at(-1)
const directory = mkdtempSync(join(tmpdir(), 'forbear-readme-'))
afterAll(() => rmSync(directory, { recursive: true }))

if (kubectl === undefined || helm === undefined) {
  it.skip(`the commands of ${README} run as far as the cluster, with kubectl and Helm: ${HOW_TO_GET}`, () => {})
} else {
  const shell = clusterShell(directory, kubectl, helm)
  describe(`the commands of ${README}, as far as the cluster`, () => {
    it.each(samples)('$at run', ({ text }) => {
      expect(shell.run(text)).toEqual({ code: 0, output: expect.any(String) })
    })

    it('apply what an API server takes', () => {
      const objects = objectsOf(shell.applied())
      const latest = new Map(objects.map(object => [nameOf(object), object]))
      expect([...latest.keys()]).toEqual(expect.arrayContaining(['ConfigMap shop-policies', 'Deployment shop']))
      expect(climb([...latest.values()], [])).toEqual([])
    })

    it.each([
      ['a flag that is none', 'kubectl rollout status --statu deployment/shop'],
      ['a folder that is none', 'kubectl apply -k deploy/nowhere'],
      ['a value that the chart does not have', 'helm upgrade --install forbear deploy/helm --set replica=3'],
      [
        'a manifest that cannot be injected',
        'forbear inject --native=false deploy/manifests/plain/job.yaml | kubectl apply -f -',
      ],
    ])('would not run with %s', (_, script) => {
      expect(shell.run(script).code).not.toBe(0)
    })
  })
}

it('names every annotation of a pod', () => {
  const table = read(README).split('\n| annotation |')[1]?.split('\n\n')[0] ?? ''
  const firstColumn = table.split('\n').map(row => row.split('|')[1] ?? '')
  const named = firstColumn.flatMap(cell => [...cell.matchAll(/`([a-z-]+)`/g)].map(match => match[1]))
  expect(named).toEqual([...SETTING_NAMES])
})

it('has a row for each version from 1.25 to 1.36, and calls tested what the fetched tools test', () => {
  const section = read(README).split('\n## Versions')[1]?.split('\n## ')[0] ?? ''
  const rows = section
    .split('\n')
    .filter(line => /^\| 1\./.test(line))
    .map(row => row.split('|').map(cell => cell.trim()))
  expect(rows.flatMap(([, versions = '']) => minorsOf(versions)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 12 }, (_, index) => 25 + index),
  )
  const fetched = [...read('test/kube/support/fetch-tools.mjs').matchAll(/kubernetes-1\.(\d+)/g)].map(match =>
    Number(match[1]),
  )
  const certain = rows
    .filter(row => !row.join().includes('untested'))
    .flatMap(([, versions = '']) => minorsOf(versions))
  // 1.34 is the level of the types and schemas.
  expect(certain).toEqual([...fetched.sort(), 34])
})

/** `1.29 – 1.31, 1.33`: 29, 30, 31, 33. */
function minorsOf(versions: string): number[] {
  return versions.split(',').flatMap(part => {
    const [from = 0, to = from] = [...part.matchAll(/1\.(\d+)/g)].map(match => Number(match[1]))
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
