import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { vi } from 'vitest'
import { registerInject } from '../../../cmd/inject.js'
import { registerUninject } from '../../../cmd/uninject.js'

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** `forbear inject …` or `forbear uninject …` in this process. `file` stands for each text in turn. */
export async function run(words: readonly string[], ...texts: readonly string[]): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'inject-'))
  const out = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map(stream =>
    vi.spyOn(process[stream], 'write').mockImplementation(text => ((out[stream] += text), true)),
  )
  try {
    const paths = texts.map((text, index) => {
      const path = join(directory, `${'abc'[index]}.yaml`)
      writeFileSync(path, text)
      return path
    })
    const program = new Command('forbear').version('1.2.3').exitOverride()
    registerInject(program)
    registerUninject(program)
    for (const command of program.commands) command.exitOverride()
    await program.parseAsync([...words, ...paths], { from: 'user' })
    return { code: Number(process.exitCode), stdout: out.stdout, stderr: out.stderr.replaceAll(`${directory}/`, '') }
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.exitCode = undefined
    rmSync(directory, { recursive: true })
  }
}

export const inject = (text: string, ...words: readonly string[]) => run(['inject', ...words], text)

export const uninject = (text: string) => run(['uninject'], text)

/** A Deployment of one app; `spec` is what else stands in the pod, `annotations` at its template. */
export function deployment(spec = '', annotations: Readonly<Record<string, string>> = {}): string {
  const list = Object.entries(annotations).map(
    ([key, value]) => `        forbear.dev/${key}: ${JSON.stringify(value)}\n`,
  )
  const metadata = list.length === 0 ? '' : `    metadata:\n      annotations:\n${list.join('')}`
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: ops
spec:
  template:
${metadata}    spec:
      containers:
      - name: web
        image: registry.example/shop:1
${spec
  .split('\n')
  .map(line => (line === '' ? '' : `      ${line}`))
  .join('\n')}`
}

export function job(spec = ''): string {
  return deployment(`restartPolicy: Never\n${spec}`).replace('apps/v1', 'batch/v1').replace('Deployment', 'Job')
}

/** The lines of `after` that `before` does not have; throws unless `before` is what is left without them. */
export function addedLines(before: string, after: string): readonly string[] {
  const old = before.split('\n')
  let next = 0
  const added = after.split('\n').filter(line => {
    if (line !== old[next]) return true
    next++
    return false
  })
  if (next < old.length) throw new Error(`changed: ${old[next]}`)
  return added
}
