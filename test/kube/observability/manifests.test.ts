import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inject } from '../../../src/kube/inject/inject.js'
import { HEALTH_PORT_NAME } from '../../../src/kube/inject/names.js'
import { read as readDocument, samplesOf } from '../../docs/samples.js'
import { clusterShell } from '../support/cluster-shell.js'
import { climb } from '../support/ladder/ladder.js'
import { fields, list, nameOf, objectsOf } from '../support/ladder/objects.js'
import { HOW_TO_GET, helms, kubectls } from '../support/tools.js'
import { FOLDER, read } from './support.js'

const directory = mkdtempSync(join(tmpdir(), 'forbear-observability-'))
afterAll(() => rmSync(directory, { recursive: true }))
const kubectl = kubectls().findLast(({ minor }) => minor >= 29)
const helm = helms().at(-1)
const README = `${FOLDER}/README.md`
const samples = samplesOf(README, readDocument(README)).filter(({ mode }) => mode === 'cluster')

describe('the monitor', () => {
  const [monitor] = objectsOf(read('podmonitor.yaml'))
  const [endpoint] = list(fields(monitor?.['spec'])['podMetricsEndpoints'])

  it('scrapes the port that inject gives a sidecar, native or not', () => {
    expect(endpoint).toMatchObject({ port: HEALTH_PORT_NAME, path: '/metrics' })
    for (const native of ['true', 'false'] as const) {
      const options = { image: 'registry.example.com/forbear:1', native }
      const { podSpec } = inject({ containers: [{ name: 'shop', image: 'shop:1' }] }, {}, options)
      const containers = [...list(podSpec['initContainers']), ...list(podSpec['containers'])]
      const ports = containers.flatMap(container => list(container['ports']).map(port => port['name']))
      expect(ports).toEqual([HEALTH_PORT_NAME])
    }
  })

  it('tells pods apart by the annotation that names their policies', () => {
    expect(JSON.stringify(endpoint?.['relabelings'])).toContain('annotation_forbear_dev_policy_configmap')
  })
})

describe('monitor and rules', () => {
  it('are objects that can be applied, as far as that shows without their definitions', () => {
    expect(climb([...objectsOf(read('podmonitor.yaml')), ...objectsOf(read('rules.yaml'))], [])).toEqual([])
  })
})

if (kubectl === undefined || helm === undefined) {
  it.skip(`the commands of ${README}, with kubectl and Helm: ${HOW_TO_GET}`, () => {})
} else {
  const shell = clusterShell(directory, kubectl, helm)
  describe(`the commands of ${README}, as far as the cluster`, () => {
    it.each(samples)('$at run', ({ text }) => {
      expect(shell.run(text)).toEqual({ code: 0, output: expect.any(String) })
    })

    it('apply monitor, alerts and the dashboard', () => {
      const objects = objectsOf(shell.applied())
      expect(objects.map(nameOf).sort()).toEqual([
        'ConfigMap forbear-dashboard',
        'PodMonitor forbear',
        'PrometheusRule forbear',
      ])
      expect(climb(objects, [])).toEqual([])
      const data = fields(objects.find(({ kind }) => kind === 'ConfigMap')?.['data'])
      expect(data['forbear.json']).toBe(read('dashboard.json'))
    })
  })
}
