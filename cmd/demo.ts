import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'
import { shippedPolicies } from './package-files.js'
import { explainStartError } from './start-errors.js'
import { superviseSidecar } from './supervise.js'

const UPSTREAM = { host: '127.0.0.1', port: 15090 }
/** `listen` of the demo upstream in policies/. */
const OWN = '127.0.0.1:15101'

interface DemoFlags {
  readonly listen: string
  readonly admin: string
  readonly health: string
  readonly traffic: boolean
}

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('run the sidecar with the shipped policies in front of an upstream that misbehaves')
    .option('--listen <address>', 'shared port', '127.0.0.1:15080')
    .option('--admin <address>', 'admin port', '127.0.0.1:15081')
    .option('--health <address>', 'health port', '127.0.0.1:15082')
    .option('--traffic', 'send five calls a second through the sidecar', false)
    .addHelpText('after', '\nExample:\n  $ forbear demo --traffic')
    .action(async (flags: DemoFlags) => {
      process.exitCode = await runDemo(flags)
    })
}

async function runDemo(flags: DemoFlags): Promise<number> {
  const { portTakenMessage } = await import('../src/demo/guide.js')
  try {
    return await demonstrate(flags)
  } catch (error) {
    const message = portTakenMessage(error)
    if (message === null) return explainStartError(error)
    console.error(message)
    return EXIT.configuration
  }
}

async function demonstrate(flags: DemoFlags): Promise<number> {
  const [
    { startSidecar },
    { SystemClock },
    { FlakyUpstream },
    { DEMO_UPSTREAM, guide },
    { MODE_MEANINGS },
    { Traffic },
  ] = await Promise.all([
    import('../src/app.js'),
    import('../src/clock/system-clock.js'),
    import('../src/demo/flaky-upstream.js'),
    import('../src/demo/guide.js'),
    import('../src/demo/modes.js'),
    import('../src/demo/traffic.js'),
  ])
  const clock = new SystemClock()
  const upstream = await FlakyUpstream.start({
    ...UPSTREAM,
    clock,
    random: Math.random,
    onMode: mode => console.log(`The upstream is now ${mode}: ${MODE_MEANINGS[mode]}`),
  })
  const policies = await shippedPolicies()
  const traffic = new Traffic(clock, `http://${flags.listen}/${DEMO_UPSTREAM}`)
  try {
    const sidecar = await startSidecar({
      policiesDir: policies.dir,
      listen: flags.listen,
      admin: flags.admin,
      health: flags.health,
      start: 'all',
      logLevel: 'info',
      accessLog: 'all',
      drainPeriodMs: 5000,
      pretty: process.stdout.isTTY === true,
    })
    const upstreamAt = `${UPSTREAM.host}:${UPSTREAM.port}`
    console.log(guide({ shared: flags.listen, admin: flags.admin, own: OWN, upstream: upstreamAt }, flags.traffic))
    if (flags.traffic) traffic.start()
    return await superviseSidecar(sidecar)
  } finally {
    traffic.stop()
    await Promise.all([upstream.close(), policies.dispose()])
  }
}
