import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Compiles one source file with all it imports, so that a child process of plain Node can run it. */
export async function compile(entry: string) {
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
      files: [join(root, entry)],
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
