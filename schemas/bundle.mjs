/**
 * One schema that is complete in itself, for editors: fits a document of either kind, tells them apart by `kind`, and
 * says in words what a pattern means.
 */
import { valueText } from './reference.mjs'

const KINDS = ['Upstream', 'Policy']

export function editorSchema(common, upstream, policy) {
  const $defs = { Upstream: upstream, Policy: policy, ...upstream.$defs, ...common.$defs }
  const prepared = schema => prepare(schema, $defs)
  const kindIs = kind => ({ required: ['kind'], properties: { kind: { const: kind } } })
  return {
    $schema: common.$schema,
    title: 'forbear',
    description: 'A document of a policy set: an Upstream or a Policy.',
    type: 'object',
    required: ['kind'],
    properties: {
      apiVersion: { $ref: '#/$defs/apiVersion' },
      kind: {
        description: 'What this document is.',
        enum: KINDS,
        enumDescriptions: [upstream.description, policy.description],
      },
    },
    if: kindIs('Upstream'),
    then: { $ref: '#/$defs/Upstream' },
    else: { if: kindIs('Policy'), then: { $ref: '#/$defs/Policy' } },
    $defs: Object.fromEntries(Object.entries($defs).map(([name, schema]) => [name, prepared(schema)])),
  }
}

/** Without names of its own, references into `$defs`, and in words what editors would not show or show as a pattern. */
function prepare(schema, defs) {
  if (Array.isArray(schema)) return schema.map(item => prepare(item, defs))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: _, $schema: __, $defs: ___, ...rest } = withOwnFacts(schema, defs)
  const copy = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === '$ref' ? value.replace('common.schema.json', '') : prepare(value, defs),
    ]),
  )
  // A type beside the words would make two complaints of one mistake.
  if (copy.enum !== undefined) delete copy.type
  return { ...copy, ...described(copy), ...explained(copy) }
}

/** What is referred to with a default of its own is written out, so that its text can name it. */
function withOwnFacts(schema, defs) {
  const { $ref, ...own } = schema
  return $ref === undefined || Object.keys(own).length === 0 ? schema : { ...defs[$ref.split('/').at(-1)], ...own }
}

function described(schema) {
  if (typeof schema.description !== 'string' || schema.properties !== undefined) return {}
  const standard = schema.default === undefined ? schema['x-default'] : JSON.stringify(schema.default)
  const facts = [
    ...(schema.type === undefined ? [] : [`Allowed: ${valueText(schema)}.`]),
    ...(standard === undefined ? [] : [`Default: ${standard.replaceAll('"', '')}.`]),
  ]
  return { markdownDescription: [schema.description, ...facts].join('\n\n') }
}

function explained(schema) {
  return typeof schema.pattern === 'string'
    ? { patternErrorMessage: `Not allowed here; write ${valueText(schema)}.` }
    : {}
}
