/** The built command, with certificates of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CertificateSet, firstSet } from '../../../../src/kube/certs/bundle.js'
import { issueCertificates, serviceNames } from '../../../../src/kube/certs/issue.js'
import { freePort } from '../../../e2e/harness/ports.js'
import { until, within } from '../../../e2e/harness/time.js'
import { RotatingSecret } from '../../../support/rotating-secret.js'
import { NAMESPACE, SERVICE, type WebhookConfig } from './api-server.js'

const CLI = fileURLToPath(new URL('../../../../dist/cmd/forbear.js', import.meta.url))
export const IMAGE = 'registry.example.com/forbear:1'

export async function newCertificates(names = serviceNames(SERVICE, NAMESPACE)): Promise<CertificateSet> {
  return firstSet(await issueCertificates({ names, days: 30, nowMs: Date.now() }))
}

export class WebhookProcess {
  output = ''
  readonly exited: Promise<number | null>

  private constructor(
    readonly child: ChildProcess,
    readonly secret: RotatingSecret,
    readonly port: number,
    readonly healthPort: number,
    public caBundle: string,
  ) {
    this.exited = new Promise(resolve => child.once('close', code => resolve(code)))
    child.stdout?.on('data', chunk => (this.output += chunk))
    child.stderr?.on('data', chunk => (this.output += chunk))
  }

  /** Starts the command and waits for nothing. */
  static async spawn(files: Partial<CertificateSet>, caBundle: string, args: readonly string[] = [], cli = CLI) {
    if (!existsSync(cli)) throw new Error(`${cli} is missing: run \`npm run build\` first`)
    const secret = new RotatingSecret(files as Record<string, string>)
    const [port, health] = [await freePort(), await freePort()]
    const listeners = ['--listen', `127.0.0.1:${port}`, '--health', `127.0.0.1:${health}`]
    const command = [cli, 'webhook', '--certs', secret.dir, '--image', IMAGE, ...listeners, ...args]
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] })
    return new WebhookProcess(child, secret, port, health, caBundle)
  }

  static async start(args: readonly string[] = [], cli = CLI): Promise<WebhookProcess> {
    const set = await newCertificates()
    const webhook = await WebhookProcess.spawn(set, set['ca.crt'], args, cli)
    await webhook.ready()
    return webhook
  }

  async ready(): Promise<void> {
    const isReady = async () => (await this.health('/readyz').catch(() => null))?.status === 200
    await until('the webhook is ready', isReady, 20_000)
  }

  at(path: '/mutate' | '/validate-policy'): WebhookConfig {
    return { port: this.port, caBundle: this.caBundle, path }
  }

  async health(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.healthPort}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  /** One series of /metrics; 0 when it is not there. */
  async metric(series: string): Promise<number> {
    const { text } = await this.health('/metrics')
    const line = text.split('\n').find(one => one.startsWith(`${series} `))
    return line === undefined ? 0 : Number(line.slice(series.length + 1))
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) this.child.kill('SIGKILL')
    await within('the webhook ends', this.exited, 5000)
    this.secret.dispose()
  }
}
