/** One sidecar and its upstreams for all tests of a file, so that a field case costs one process. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { Stage } from './stage.js'

/** What `build` gives; filled in before the first test. */
export function onOneStage<T extends object>(build: (stage: Stage) => Promise<T>): T {
  const stage = new Stage()
  const parts = {} as T
  beforeAll(async () => {
    Object.assign(parts, await build(stage))
  })
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.error(stage.report())
  })
  afterAll(() => stage.close())
  return parts
}
