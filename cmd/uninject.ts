import type { Command } from 'commander'
import { changeManifests } from './manifests.js'

export function registerUninject(program: Command): void {
  program
    .command('uninject')
    .description('take out of manifests what forbear inject has added')
    .argument('[file...]', 'manifests, YAML or JSON; - is standard input', ['-'])
    .addHelpText('after', HELP)
    .action(async (files: string[]) => {
      const { uninjectManifest } = await import('../src/kube/manifest/inject-manifest.js')
      process.exitCode = await changeManifests(files, uninjectManifest)
    })
}

const HELP = `
What was added is told by the annotation forbear.dev/injected; a pod without it stays as it is.

Example:
  $ kubectl get deployment shop -o yaml | forbear uninject - | kubectl apply -f -`
