/** What is listed from the schemas: the field tables of the policy reference, and the fields for the loader. */

import { stringify } from 'yaml'

const SECTIONS = [
  'timeouts',
  'retry',
  'budget',
  'breaker',
  'pace',
  'throttle',
  'limits',
  'hedge',
  'fallback',
  'pool',
  'poll',
  'fault',
  'park',
]

export function fieldTables(common, upstream) {
  const { $defs } = common
  const resolve = schema => {
    if (!schema.$ref) return schema
    const name = schema.$ref.split('/').at(-1)
    return { ...($defs[name] ?? upstream.$defs[name]), ...schema }
  }
  const rows = (schema, prefix) =>
    Object.entries(schema.properties).flatMap(([key, raw]) => {
      const field = resolve(raw)
      if (field.properties) return rows(field, `${prefix}${key}.`)
      return [row(`${prefix}${key}`, field, schema.required?.includes(key))]
    })
  const table = (title, schema, prefix = '', skip = []) => {
    const properties = Object.fromEntries(Object.entries(schema.properties).filter(([key]) => !skip.includes(key)))
    return [
      `### ${title}`,
      '',
      schema.description,
      '',
      '| field | value | default | example | what it does |',
      '|---|---|---|---|---|',
      ...rows({ ...schema, properties }, prefix),
      '',
    ].join('\n')
  }
  const spec = upstream.properties.spec
  return [
    table('Upstream: `spec`', spec, '', [...SECTIONS, 'routes']),
    ...SECTIONS.map(name => table(`Section \`${name}\``, $defs[name], `${name}.`)),
    table('Routes: `spec.routes[]`', upstream.$defs.route, '', SECTIONS),
  ].join('\n')
}

/** Dotted path → format, `null` where the schema alone says it all. */
export function sectionFields(common, upstream) {
  const { $defs } = common
  const list = (properties, prefix) =>
    Object.entries(properties).flatMap(([key, raw]) => {
      const field = raw.$ref ? $defs[raw.$ref.split('/').at(-1)] : raw
      if (field.properties) return list(field.properties, `${prefix}${key}.`)
      const format = field['x-format']
      return [[`${prefix}${key}`, format ? { format, min: field['x-min'], max: field['x-max'] } : null]]
    })
  const sections = Object.fromEntries(SECTIONS.map(name => [name, $defs[name]]))
  const { longPoll } = upstream.$defs.route.properties
  return Object.fromEntries(list({ ...sections, propagate: $defs.propagate, longPoll }, ''))
}

/** Of `SECTIONS` those that a route may have. */
export function routeSections(upstream) {
  return SECTIONS.filter(name => name in upstream.$defs.route.properties)
}

const cell = text => text.replaceAll('|', '\\|').replaceAll('<name>', '&lt;name&gt;')

function row(name, field, required) {
  const standard =
    field.default !== undefined ? code(field.default) : (field['x-default'] ?? (required ? 'required' : ''))
  const example = field.examples === undefined ? '' : code(field.examples[0])
  const cells = [`\`${name}\``, valueText(field), standard, example, field.description]
  return `| ${cells.map(cell).join(' | ')} |`
}

/** As it is written in a policy, on one line. */
function code(written) {
  return `\`${stringify(written, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()}\``
}

/** What may stand there instead. */
const OR = { 'duration-or-none': ', or `none`', 'duration-or-quantile': ', or a quantile `p50` to `p99.9`' }

/** What may be written there, in a few words. */
export function valueText(field) {
  if (field['x-format']) {
    const kind = field['x-format'] === 'size' ? 'size' : 'duration'
    const or = OR[field['x-format']] ?? ''
    return `${kind} ${field['x-min']} to ${field['x-max']}${or}`
  }
  if (field.enum) return field.enum.map(word => `\`${word}\``).join(', ')
  if (field['x-allowed']) return field['x-allowed']
  if (field.type === 'array') return `list; each: ${valueText(field.items)}`
  if (field.type === 'object') return 'mapping of text to text'
  if (field.minimum !== undefined)
    return `${field.type === 'integer' ? 'whole number' : 'number'} ${field.minimum} to ${field.maximum}`
  return field.type === 'boolean' ? '`true`, `false`' : 'text'
}
