import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('lossy-network.mjs', import.meta.url))
const CALLS = 40

/** A rule that matches nothing, in a namespace like the one that is needed; '' = it can be had. */
function whyNot(): string {
  const rule = 'iptables -A INPUT -p tcp --dport 1 -m statistic --mode random --probability 0.2 -j DROP'
  const { error, status, stderr } = spawnSync('unshare', ['-rn', 'sh', '-c', `ip link set lo up && ${rule}`])
  return error?.message ?? (status === 0 ? '' : String(stderr).trim())
}

const missing = whyNot()
if (missing !== '') console.log(`skipped: packet loss needs user namespaces and iptables: ${missing}`)

test.skipIf(missing !== '')(
  'with a fifth of all packets lost every GET is served, and attempts do not multiply',
  async () => {
    const command = ['-rn', process.execPath, SCRIPT, String(CALLS), '10']
    const { stdout, stderr } = await promisify(execFile)('unshare', command, { timeout: 90_000 })
    expect(stderr).toBe('')
    const result = JSON.parse(stdout) as { served: number; statuses: unknown[]; hits: number; exit: number | null }
    expect(result.served, JSON.stringify(result.statuses)).toBe(CALLS)
    expect(result.hits).toBeLessThanOrEqual(1.2 * CALLS + 5)
    expect(result.exit).toBe(null)
  },
  100_000,
)
