/** The life of one pod, from the app's first call to its last. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../e2e/harness/time.js'
import { Cluster, type Placed, type PodOptions } from './cluster.js'
import { whyNoPods } from './sandbox.js'

const [ADMIN, HEALTH] = [15081, 15082]
const why = whyNoPods()

describe.skipIf(why !== null)('a pod', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.create()
  })
  afterAll(() => cluster.close())

  async function running(options: PodOptions): Promise<Placed> {
    const placed = await cluster.place(options)
    await placed.pod.start()
    await until('the app is up', () => told(placed, 'first').length === 1, 20_000)
    return placed
  }

  const told = ({ pod }: Placed, key: string) =>
    pod.sandbox.told('app').flatMap(line => (key in line ? [line[key]] : []))

  const FORMS = [
    ['native', true],
    ['classic', false],
  ] as const

  it.each(FORMS)('of the %s form gives its app a first call that succeeds', async (_, native) => {
    const placed = await running({ native })
    expect(told(placed, 'first')).toEqual([200])
    console.log(`first call ${told(placed, 'atMs')[0]} ms after the app's start`)
  })
})
