import { describe, expect, it } from 'vitest'
import { checkSource, unitOf } from './architecture/check-source.js'
import {
  checkRepository,
  filesBelow,
  notKebabCase,
  readText,
  strangers,
  topLevelNames,
} from './architecture/repository.js'

describe('the repository', () => {
  it('imports only along the import table, reads no clock in pure code and keeps files short', () => {
    expect(checkRepository()).toEqual([])
  })

  it('has nothing at the top level but what the layout names', () => {
    expect(strangers(topLevelNames())).toEqual([])
  })

  it('names every source and test file in kebab-case', () => {
    expect(notKebabCase(filesBelow('src', 'cmd', 'test'))).toEqual([])
  })

  it('locks packages without saying where they were fetched', () => {
    expect(readText('package-lock.json')).not.toMatch(/"resolved": "https?:/)
  })
})

describe('the check of imports', () => {
  const forms = {
    'import x from': "import { x } from '../proxy/x.js'",
    'import type': "import type { X } from '../proxy/x.js'",
    'import for its effects': "import '../proxy/x.js'",
    'export from': "export { x } from '../proxy/x.js'",
    'export type from': "export type { X } from '../proxy/x.js'",
    'export star': "export * from '../proxy/x.js'",
    'import()': "const x = await import('../proxy/x.js')",
    'import() as a type': "type X = import('../proxy/x.js').X",
    'require()': "const x = require('../proxy/x.js')",
    'createRequire()()': "const x = createRequire(import.meta.url)('../proxy/x.js')",
    'import =': "import x = require('../proxy/x.js')",
  }
  it.each(Object.entries(forms))('sees a forbidden %s', (_, source) => {
    expect(checkSource('src/core/a.ts', `\n${source}\n`)).toEqual([
      'src/core/a.ts:2  core imports proxy (src/proxy/x.ts); it may import core',
    ])
  })

  it('does not take comments, strings and templates for imports', () => {
    const source =
      "// import 'undici'\n/* import('undici') */\nexport const s = \"import 'undici'\" + `import('undici')`"
    expect(checkSource('src/core/a.ts', source)).toEqual([])
  })

  it('refuses a name that is only known at run time', () => {
    expect(checkSource('src/proxy/a.ts', 'export const f = (name: string) => import(name)')[0]).toContain(
      'computed name',
    )
  })

  it('refuses packages and node: modules where the table has none', () => {
    expect(checkSource('src/pipeline/a.ts', "import 'node:http'\nimport 'undici'\nimport '@a/b/c'")).toEqual([
      'src/pipeline/a.ts:1  pipeline imports node:http; it may import no node: module',
      'src/pipeline/a.ts:2  pipeline imports the package undici; it may import no package',
      'src/pipeline/a.ts:3  pipeline imports the package @a/b/c; it may import no package',
    ])
  })

  it('takes a module without the node: prefix for a package', () => {
    expect(checkSource('src/proxy/a.ts', "import 'http'")).toHaveLength(1)
  })

  it('lets a unit import the types, but not the values, of another where the table says so', () => {
    expect(checkSource('src/admin/a.ts', "import type { A } from '../policy/a.js'")).toEqual([])
    expect(checkSource('src/admin/a.ts', "import { type A } from '../policy/a.js'")).toEqual([
      'src/admin/a.ts:1  admin imports policy (src/policy/a.ts); only `import type` is allowed',
    ])
  })

  it('keeps the events apart from the sinks', () => {
    expect(unitOf('src/telemetry/events.ts')).toBe('telemetry/events')
    expect(checkSource('src/pipeline/a.ts', "import type { E } from '../telemetry/events.js'")).toEqual([])
    expect(checkSource('src/pipeline/a.ts', "import type { L } from '../telemetry/log.js'")).toHaveLength(1)
    expect(checkSource('src/telemetry/events.ts', "import { L } from './log.js'")).toHaveLength(1)
  })

  it('lets only app join the parts, and only named commands reach past it', () => {
    const source = "import { l } from '../src/policy/load.js'"
    expect(checkSource('src/app.ts', "import './proxy/a.js'\nimport './policy/a.js'\nimport './admin/a.js'")).toEqual(
      [],
    )
    expect(checkSource('cmd/parked.ts', source)).toHaveLength(1)
    expect(checkSource('cmd/check.ts', source)).toEqual([])
    expect(checkSource('src/proxy/a.ts', "import '../app.js'")).toHaveLength(1)
  })

  it('refuses imports from outside of src and cmd', () => {
    expect(checkSource('src/policy/a.ts', "import '../../test/fakes.js'")[0]).toContain('neither in src nor in cmd')
  })

  it('wants a row in the table for every folder', () => {
    expect(checkSource('src/misc/a.ts', '')).toEqual([
      'src/misc/a.ts:1  misc has no row in test/architecture/import-table.ts',
    ])
  })

  it('wants costly packages loaded on demand', () => {
    expect(checkSource('src/proxy/a.ts', "import p from 'http-proxy'")[0]).toContain('use import()')
    expect(checkSource('src/proxy/a.ts', "import type p from 'http-proxy'\nimport('http-proxy')")).toEqual([])
  })
})

describe('the check of pure code', () => {
  const impure = {
    'Date.now': 'Date.now()',
    Date: 'new Date()',
    'performance.now': 'performance.now()',
    'Math.random': 'Math.random()',
    setTimeout: 'setTimeout(f, 1)',
    setInterval: 'setInterval(f, 1)',
    'process.env': 'process.env.HOME',
    globalThis: "globalThis['Date']",
  }
  it.each(Object.entries(impure))('sees %s', (name, code) => {
    for (const folder of ['core', 'pipeline', 'simulator']) {
      expect(checkSource(`src/${folder}/a.ts`, `export const f = 1\nexport const x = ${code}`)).toEqual([
        `src/${folder}/a.ts:2  ${folder} uses ${name}; time, randomness and settings are arguments there`,
      ])
    }
    expect(checkSource('src/proxy/a.ts', `export const x = ${code}`)).toEqual([])
  })

  it.each(["Math['random']()", 'take(Math)', 'Math[key]'])('sees randomness through %s', code => {
    expect(checkSource('src/core/a.ts', `export const x = ${code}`)).toHaveLength(1)
  })

  it('sees a global taken apart', () => {
    expect(checkSource('src/core/a.ts', 'const { random } = Math\nconst { now } = Date')).toHaveLength(2)
  })

  it('allows the arithmetic of Math, keys with such names, and the words in comments and strings', () => {
    const source = `// Date.now()
export const a = Math.min(1, Math['max'](2))
export const b = { Date: 1, process: 2 }
export const c = b.Date + b.process
export const d = 'Math.random'
export type E = { readonly performance: number; at: Date }`
    expect(checkSource('src/core/a.ts', source)).toEqual([])
  })
})

describe('the check of files and names', () => {
  it('allows 250 lines and no more, but for generated files', () => {
    expect(checkSource('src/proxy/a.ts', '\n'.repeat(250))).toEqual([])
    expect(checkSource('src/proxy/a.ts', '\n'.repeat(251))).toEqual([
      'src/proxy/a.ts:251  has 251 lines; at most 250 are allowed, so split it',
    ])
    expect(checkSource('src/policy/generated/a.ts', '\n'.repeat(251))).toEqual([])
  })

  it('says so when a file does not parse', () => {
    expect(checkSource('src/core/a.ts', 'const = 1')[0]).toContain('does not parse')
  })

  it('knows a stranger at the top level', () => {
    expect(strangers(['src', '.github', 'notes.md', 'dist', 'lib'])).toEqual(['notes.md', 'lib'])
  })

  it('knows a name that is not kebab-case', () => {
    expect(notKebabCase(['src/core/retry-after.ts', 'src/core/retryAfter.ts', 'test/Core/a.test.ts'])).toEqual([
      'src/core/retryAfter.ts',
      'test/Core/a.test.ts',
    ])
  })
})
