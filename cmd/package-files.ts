/** Files that are shipped beside the code. The bundle has its own form of this module (deploy/image/bundle.mjs). */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** dist/cmd → the package. */
const PACKAGE = new URL('../../', import.meta.url)

export async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('package.json', PACKAGE), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Directory of the shipped policies, wherever the command was called; `dispose` when it is not needed any more. */
export async function shippedPolicies(): Promise<{ readonly dir: string; dispose(): Promise<void> }> {
  return { dir: fileURLToPath(new URL('policies/', PACKAGE)), dispose: async () => {} }
}
