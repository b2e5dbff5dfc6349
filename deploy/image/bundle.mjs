// Writes the whole command as one file that needs no node_modules, and the licences of what is in it beside it.
// `node deploy/image/bundle.mjs [OUTFILE]`, by default dist/forbear.mjs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Packages that stay out, since they have native parts or few need them: to be installed beside the file. */
const EXTERNAL = []

/** The file is its own loading thread. */
const ENTRY = `
import { isMainThread } from 'node:worker_threads'
await (isMainThread ? import('./cmd/forbear.ts') : import('./src/policy/load-worker.ts'))
`

/** What CommonJS packages expect and an ES module lacks. */
const BANNER = "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);"

/** Gives the number of bytes written. */
export async function bundle({ outfile, entry = ENTRY, external = EXTERNAL }) {
  const { metafile } = await build({
    stdin: { contents: entry, resolveDir: ROOT, sourcefile: 'entry.ts', loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Names stay as they are, for stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: BANNER },
    define: { FORBEAR_VERSION: JSON.stringify(version()), FORBEAR_POLICIES: JSON.stringify(policies()) },
    metafile: true,
    logLevel: 'warning',
    plugins: [packageFiles, ownSources, absentPackages(external)],
  })
  writeFileSync(outfile.replace(/\.mjs$/, '.licenses.txt'), licences(metafile))
  return Object.values(metafile.outputs)[0].bytes
}

const version = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

function policies() {
  const dir = join(ROOT, 'policies')
  const names = readdirSync(dir).filter(name => name.endsWith('.yaml'))
  return Object.fromEntries(names.map(name => [name, readFileSync(join(dir, name), 'utf8')]))
}

const packageFiles = {
  name: 'package-files',
  setup({ onResolve }) {
    const path = fileURLToPath(new URL('package-files.mjs', import.meta.url))
    onResolve({ filter: /\/package-files\.js$/ }, () => ({ path }))
  },
}

/** What the sources look for beside themselves at run time is in this file. */
const ownSources = {
  name: 'own-sources',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:cmd|src)[\\/].*\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
        .replace(/createRequire\(import\.meta\.url\)(?=\()/g, 'require')
        .replace("new URL('./load-worker.js', import.meta.url)", 'new URL(import.meta.url)')
      const left = contents.replaceAll('new URL(import.meta.url)', '').match(/^.*import\.meta\.url.*$/m)?.[0]
      if (left === undefined) return { contents, loader: 'ts' }
      return { errors: [{ text: `looks for a file that the bundle does not have: ${left.trim()}` }] }
    })
  },
}

/** An external package is looked for when it is needed; without it one sentence says what to do. */
const absentPackages = external => ({
  name: 'absent-packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, namespace }) =>
      external.includes(path) && namespace !== 'external' ? { path, namespace: 'external' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'external' }, ({ path }) => ({
      contents: stubOf(path),
      loader: 'js',
    }))
  },
})

/** `require` of a name that is only known at run time is left alone by esbuild. */
const stubOf = name => `
const name = ${JSON.stringify(name)}
try {
  module.exports = require(name)
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error
  const text = \`\${name} is not in the one-file build of forbear: run "npm install \${name}" in the directory of the file\`
  throw Object.assign(new Error(text), { code: error.code })
}`

function licences({ inputs }) {
  const dirs = Object.keys(inputs).flatMap(path => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [])
  return [...new Set(dirs)].sort().map(licence).join('\n\n')
}

function licence(dir) {
  const path = resolve(dir)
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const file = readdirSync(path).find(each => /^licen[sc]e/i.test(each))
  const text = file === undefined ? '' : readFileSync(join(path, file), 'utf8').trim()
  return `${name} ${version} (${license})\n\n${text}\n`
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const outfile = resolve(process.argv[2] ?? join(ROOT, 'dist/forbear.mjs'))
  const bytes = await bundle({ outfile })
  console.log(`${outfile}: ${(bytes / 1e6).toFixed(2)} MB`)
}
