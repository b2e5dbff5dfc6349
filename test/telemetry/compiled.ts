import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Compiles source files with all they import, so that a child process of plain Node can run them. */
export async function compile(...entries: readonly string[]) {
  const root = resolve('.')
  const directory = await mkdtemp(join(tmpdir(), 'forbear-compiled-'))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  const config = join(directory, 'tsconfig.json')
  await writeFile(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        rootDir: root,
        outDir: directory,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [],
      files: entries.map(entry => join(root, entry)),
    }),
  )
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config])
  return {
    directory,
    /** Writes a module next to the compiled tree; imports are relative to the project root. */
    async script(name: string, text: string): Promise<string> {
      const file = join(directory, name)
      await writeFile(file, text)
      return file
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
