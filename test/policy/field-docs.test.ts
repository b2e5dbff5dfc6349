import { describe, expect, it } from 'vitest'
import { type FieldDoc, fieldDocs } from '../../src/policy/field-docs.js'
import { fieldDocsText } from '../../src/policy/field-docs-text.js'
import { SECTION_FIELDS } from '../../src/policy/generated/fields.js'
import { type Kind, schemaFields } from './support/schema-fields.js'

function docsOf(query: string): readonly FieldDoc[] {
  const result = fieldDocs(query)
  if (!result.found) throw new Error(`no field ${query}`)
  return result.docs
}

const KINDS: readonly Kind[] = ['Upstream', 'Policy']
const every = KINDS.flatMap(schemaFields).filter(({ path }) => path.length > 0 && path.at(-1) !== '[]')

describe('the documentation of a field', () => {
  it('is all that is known of it', () => {
    expect(fieldDocsText(docsOf('breaker.mode'))).toBe(`breaker.mode

  \`enforce\` refuses calls while open; \`observe\` counts and reports only; \`disabled\` does nothing.

type       word
allowed    enforce   refuses calls while open
           observe   counts and reports, refuses nothing
           disabled  does nothing
default    enforce
example    enforce
stands in  spec.breaker.mode of Upstream and Policy
           spec.routes[].breaker.mode of Upstream
`)
  })

  it('names the range of a duration, and examples as a policy writes them', () => {
    expect(docsOf('timeouts.total')).toMatchObject([
      { type: 'duration', default: '30s', allowed: 'a duration such as 250ms or 1m30s, from 1ms to 24h, or none' },
    ])
    expect(fieldDocsText(docsOf('retry.backoff.jitter'))).toContain('\n           [0.8, 1.2]\n')
  })

  it('is there for every field of the schemas, under its full and its short name', () => {
    for (const { path, schema } of every) {
      const full = path.join('.').replaceAll('.[]', '[]')
      const docs = docsOf(full).filter(({ places }) => places.some(place => place.path === full))
      expect(docs.map(({ description }) => description)).toContain(schema.description)
      const short = full.replace(/^spec\.(routes\[\]\.)?/, '')
      expect(docsOf(short).map(({ description }) => description)).toContain(schema.description)
    }
    for (const name of Object.keys(SECTION_FIELDS)) expect(docsOf(name)).toHaveLength(1)
  })
})

describe('a section', () => {
  it('lists its fields, a line each', () => {
    expect(fieldDocsText(docsOf('retry.retryAfter'))).toBe(`retry.retryAfter

  What a \`Retry-After\` of the upstream does.

type       section
stands in  spec.retry.retryAfter of Upstream and Policy
           spec.routes[].retry.retryAfter of Upstream
fields     cap    duration  A longer hint is neither waited for nor shortened: the answer is passed on.
           scope  word      \`request\` = only the call that got the hint waits; \`upstream\` = hints may close the gate for every call of this upstream.
`)
  })

  it.each(['', '.', 'spec'])('of everything is what "%s" asks for', query => {
    const fields = docsOf(query).flatMap(doc => doc.fields.map(({ name }) => name))
    expect(fields).toEqual(expect.arrayContaining(['target', 'retry', 'budget', 'breaker', 'limits', 'routes']))
  })

  it.each(['routes', 'routes[]', 'spec.routes', 'spec.routes[0]'])('of a route is what "%s" asks for', query => {
    expect(docsOf(query)[0]?.fields.map(({ name }) => name)).toEqual(expect.arrayContaining(['match', 'longPoll']))
  })

  it('that means two things is told twice, one that is said to be of a route once', () => {
    expect(docsOf('match').map(({ places }) => places[0]?.path)).toEqual(['spec.match', 'spec.routes[].match'])
    expect(docsOf('routes[].match').map(({ places }) => places[0]?.path)).toEqual(['spec.routes[].match'])
  })
})

describe('a field that there is not', () => {
  it.each([
    ['retry.bakoff.jiter', ['retry.backoff.jitter']],
    ['spec.budget.ratoi', ['budget.ratio']],
    ['jitter', ['retry.backoff.jitter', 'retry.throttled.jitter', 'poll.backoff.jitter']],
    ['timeouts.maxAttempts', ['retry.maxAttempts', 'park.maxAttempts']],
    ['maxAtempts', ['retry.maxAttempts', 'park.maxAttempts']],
    ['__proto__', []],
    ['zzz', []],
  ])('%s brings to mind %j', (query, suggestions) => {
    expect(fieldDocs(query)).toEqual({ found: false, suggestions })
  })
})
