import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('name-service.mjs', import.meta.url))
/** Answers grow old after half a minute, so that part runs with a long soak only. */
const LONG = Number(process.env['FORBEAR_SOAK_SECONDS'] ?? 0) >= 300

interface Result {
  readonly good: string
  readonly slow: string
  readonly dead: readonly string[]
  /** Names in the order in which their calls ended. */
  readonly order: readonly string[]
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  readonly exit: number | null
}

/** '' = the namespaces that are needed can be had. */
function whyNot(): string {
  const script = 'mount --bind /etc/hosts /etc/resolv.conf && ip link set lo up'
  const { error, status, stderr } = spawnSync('unshare', ['-rnm', 'sh', '-c', script])
  return error?.message ?? (status === 0 ? '' : String(stderr).trim())
}

const missing = whyNot()
if (missing !== '') console.log(`skipped: a name service of the test's own needs user namespaces and ip: ${missing}`)
if (!LONG) console.log('skipped in part: what becomes of old answers is tested with FORBEAR_SOAK_SECONDS=300 or more')

test.skipIf(missing !== '')(
  'dead names stall nobody, slow ones are waited for, and the last good address is kept until there is a better one',
  async () => {
    const command = ['-rnm', process.execPath, SCRIPT, LONG ? 'long' : 'short']
    const { stdout, stderr } = await promisify(execFile)('unshare', command, { timeout: 110_000 })
    expect(stderr).toBe('')
    const result = JSON.parse(stdout) as Result
    expect([result.good, result.slow]).toEqual(['200 127.0.0.2', '200 127.0.0.2'])
    expect(result.dead).toEqual(Array.from({ length: 4 }, () => '502 connect'))
    expect(result.order.slice(0, 2)).toEqual(['good', 'slow'])
    expect(result.exit).toBe(null)
    if (!LONG) return
    expect(result.before).toEqual(['200 127.0.0.3', '200 127.0.0.2'])
    expect(result.after).toEqual(['200 127.0.0.4', '200 127.0.0.2'])
  },
  120_000,
)
