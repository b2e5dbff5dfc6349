import type { ManifestResult } from '../src/kube/manifest/outcome.js'
import { EXIT } from './exit-codes.js'
import { readStdin, write } from './streams.js'

/** Manifests in, the same ones changed out; what was done goes to stderr. Either all of it is written or nothing. */
export async function changeManifests(
  files: readonly string[],
  change: (text: string, file: string) => ManifestResult,
): Promise<number> {
  const { joined, readManifest, STDIN } = await import('../src/kube/manifest/files.js')
  const stdin = files.includes(STDIN) ? await readStdin() : undefined
  const sources = files.map(file => readManifest(file, stdin))
  const faults = sources.flatMap(source => ('fault' in source ? [source.fault] : []))
  if (faults.length > 0) {
    process.stderr.write(faults.map(fault => `forbear: ${fault}\n`).join(''))
    return EXIT.usage
  }
  const results = sources.flatMap(source => ('text' in source ? [change(source.text, source.file)] : []))
  const { reportText } = await import('../src/kube/manifest/outcome.js')
  process.stderr.write(reportText(results))
  if (results.some(({ problems }) => problems.length > 0)) return EXIT.problems
  write(joined(results))
  return EXIT.ok
}
