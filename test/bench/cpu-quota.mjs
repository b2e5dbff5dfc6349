// Runs a command with a part of a core, by a control group of either version, as the kubelet does for a CPU limit.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'

const PERIOD_US = 100_000
const V1 = '/sys/fs/cgroup/cpu'
const V2 = '/sys/fs/cgroup'

/** `through` goes in front of a command; `null` where groups cannot be made, and `why` tells. */
export function cpuQuota(cores) {
  const group = `forbear-bench-${process.pid}`
  const quota = Math.round(cores * PERIOD_US)
  try {
    if (existsSync(`${V1}/cpu.cfs_quota_us`)) return quotaIn(`${V1}/${group}`, { 'cpu.cfs_quota_us': `${quota}` })
    if (!readFileSync(`${V2}/cgroup.controllers`, 'utf8').includes('cpu')) throw new Error('no cpu controller')
    return quotaIn(`${V2}/${group}`, { 'cpu.max': `${quota} ${PERIOD_US}` })
  } catch (error) {
    return { through: null, why: error.message, remove() {} }
  }
}

function quotaIn(path, settings) {
  mkdirSync(path)
  const remove = () => rmdirSync(path)
  try {
    for (const [name, value] of Object.entries(settings)) writeFileSync(`${path}/${name}`, value)
  } catch (error) {
    remove()
    throw error
  }
  return { through: ['sh', '-c', `echo $$ >${path}/cgroup.procs && exec "$@"`, 'sh'], remove }
}
