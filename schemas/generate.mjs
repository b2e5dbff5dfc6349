/**
 * Makes from the schemas: the TypeScript types of the documents, the validator code (so that nothing is compiled at
 * start-up), the schema for editors, and the field tables of policies/README.md. `--check` writes nothing and fails when a file is stale.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Ajv2020 from 'ajv/dist/2020.js'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { compile } from 'json-schema-to-typescript'
import { editorSchema } from './bundle.mjs'
import { codeExamples, examplesModule, messagesSection } from './code-examples.mjs'
import { assetsModule } from './dashboard-assets.mjs'
import { fieldTables, routeSections, sectionFields } from './reference.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const BANNER = 'Generated from schemas/ by `npm run generate`. Do not edit.'
const ASSETS_BANNER = 'Generated from src/admin/dashboard/assets and uPlot by `npm run generate`. Do not edit.'
const KINDS = ['upstream', 'policy']

const read = name => JSON.parse(readFileSync(join(here, `${name}.schema.json`), 'utf8'))

async function documentTypes() {
  const union = { title: 'Document', oneOf: KINDS.map(kind => ({ $ref: `${kind}.schema.json` })) }
  return compile(union, 'Document', {
    cwd: here,
    bannerComment: `/** ${BANNER} */`,
    additionalProperties: false,
    style: { semi: false, singleQuote: true, printWidth: 120 },
  })
}

const PROSE = new Set(['description', 'title', 'default', 'x-default'])

/** Prose stays out of the validators: they are loaded at every start. Durations and sizes are left to their parsers. */
function forValidator(schema) {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === 'enumDescriptions' || (PROSE.has(key) && typeof value !== 'object')) return undefined
      const parsed = typeof value === 'object' && value !== null && value['x-format'] !== undefined
      return parsed ? { ...value, pattern: undefined } : value
    }),
  )
}

function validatorCode() {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    messages: false,
    allowUnionTypes: true,
    strictTuples: false,
    inlineRefs: false,
    // Lengths in UTF-16 units: needs no helper at run time.
    unicode: false,
    logger: false,
    code: { source: true, esm: true },
  })
  for (const word of ['x-format', 'x-min', 'x-max', 'x-default', 'x-words', 'x-allowed']) ajv.addKeyword(word)
  ajv.addSchema(forValidator(read('common')))
  for (const kind of KINDS) ajv.addSchema(forValidator(read(kind)))
  const code = standaloneCode.default(ajv, {
    validateUpstream: 'upstream.schema.json',
    validatePolicy: 'policy.schema.json',
  })
  if (/\brequire\(/.test(code)) throw new Error('the validators need a helper at run time')
  // TypeScript, so that the compiler carries it into the build like any other source.
  return `// @ts-nocheck\n// ${BANNER}\n${code.replace(/^"use strict";/, '')}\n`
}

function fieldList() {
  const fields = JSON.stringify(sectionFields(read('common'), read('upstream')), null, 2)
  return `/** ${BANNER} */

export interface FieldFormat {
  readonly format: 'duration' | 'duration-or-none' | 'duration-or-quantile' | 'size'
  readonly min: string
  readonly max: string
}

/** Every field that an Upstream, a Policy or a route may set; \`null\` where the schema alone checks its form. */
export const SECTION_FIELDS: Readonly<Record<string, FieldFormat | null>> = ${fields}

/** What a route may write of them. */
export const ROUTE_SECTIONS: readonly string[] = ${JSON.stringify(routeSections(read('upstream')))}
`
}

const forEditors = () => editorSchema(read('common'), read('upstream'), read('policy'))

function schemaModule() {
  return `/** ${BANNER} */
import type { JsonSchema } from '../json-schema.js'

/** The one for editors, of both kinds. */
export const SCHEMA: JsonSchema = ${JSON.stringify(forEditors(), null, 2)}
`
}

function policyReference() {
  let text = readFileSync(join(root, 'policies/README.md'), 'utf8')
  text = between(text, 'fields', fieldTables(read('common'), read('upstream')))
  return between(text, 'messages', messagesSection(codeExamples(root)))
}

/** The text with what stands between its two marks replaced. */
function between(text, mark, made) {
  const [head, , tail] = text.split(new RegExp(`<!-- ${mark}:(?:begin|end) -->`))
  return `${head}<!-- ${mark}:begin -->\n\n${made}\n<!-- ${mark}:end -->${tail}`
}

const outputs = {
  'src/policy/generated/code-examples.ts': () => examplesModule(BANNER, codeExamples(root)),
  'src/policy/generated/documents.ts': documentTypes,
  'src/policy/generated/fields.ts': fieldList,
  'src/policy/generated/validators.ts': validatorCode,
  'src/policy/generated/schema.ts': schemaModule,
  'src/admin/dashboard/generated/assets.ts': () => assetsModule(ASSETS_BANNER, root),
  'schemas/forbear.schema.json': () => `${JSON.stringify(forEditors(), null, 2)}\n`,
  'policies/README.md': policyReference,
}

const check = process.argv.includes('--check')
for (const [name, make] of Object.entries(outputs)) {
  const path = join(root, name)
  const text = await make()
  if (!check) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  } else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${name} is stale: run \`npm run generate\``)
    process.exitCode = 1
  }
}
