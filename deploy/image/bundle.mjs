// Writes the whole command as one file that needs no node_modules, and the licences of what is in it beside it.
// `node deploy/image/bundle.mjs [OUTFILE]`, by default dist/forbear.mjs.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * LevelDB is native code, which cannot be in a file of JavaScript: one file for each kind of machine lies beside it, for
 * calls that are parked in a directory.
 */
const LEVEL_DB = join(ROOT, 'node_modules/classic-level/prebuilds')
const LEVEL_DB_BUILDS = {
  'linux-x64': 'linux-x64/classic-level.node',
  'linux-arm64': 'linux-arm64/classic-level.armv8.node',
}

/** The file is its own threads, too: that which loads policies is given what to load, that which judges them is asked. */
const ENTRY = `
import { isMainThread, workerData } from 'node:worker_threads'
if (isMainThread) await import('./cmd/forbear.ts')
else await (workerData == null ? import('./src/kube/webhook/judge-worker.ts') : import('./src/policy/load-worker.ts'))
`

/** What CommonJS packages expect and an ES module lacks. */
const BANNER = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const __dirname = import.meta.dirname`

/** Gives the number of bytes written. */
export async function bundle(outfile) {
  const { metafile } = await build({
    stdin: { contents: ENTRY, resolveDir: ROOT, sourcefile: 'entry.ts', loader: 'ts' },
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
    plugins: [packageFiles, ownSources, levelDb],
  })
  writeFileSync(outfile.replace(/\.mjs$/, '.licenses.txt'), licences(metafile))
  for (const [machine, path] of Object.entries(LEVEL_DB_BUILDS)) {
    copyFileSync(join(LEVEL_DB, path), join(dirname(outfile), `leveldb-${machine}.node`))
  }
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
        .replace(/new URL\('\.\/\w+-worker\.js', import\.meta\.url\)/, 'new URL(import.meta.url)')
      const left = contents.replaceAll('new URL(import.meta.url)', '').match(/^.*import\.meta\.url.*$/m)?.[0]
      if (left === undefined) return { contents, loader: 'ts' }
      return { errors: [{ text: `looks for a file that the bundle does not have: ${left.trim()}` }] }
    })
  },
}

const levelDb = {
  name: 'level-db',
  setup({ onLoad }) {
    onLoad({ filter: /classic-level[\\/]binding\.js$/ }, () => ({ contents: BINDING, loader: 'js' }))
  },
}

/** `require` of a name that is only known at run time is left alone by esbuild. */
const BINDING = `
const name = './leveldb-' + process.platform + '-' + process.arch + '.node'
try {
  module.exports = require(name)
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error
  const text = 'parking in a directory needs ' + name.slice(2) + ' beside the one file of forbear; a Redis needs no such file'
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
  const bytes = await bundle(outfile)
  console.log(`${outfile}: ${(bytes / 1e6).toFixed(2)} MB`)
}
