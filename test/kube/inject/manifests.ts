import fc from 'fast-check'
import { Document, isCollection, isMap, isScalar, isSeq, parseAllDocuments, visit } from 'yaml'

/** A pod as users write them: what `inject` touches in every state, and things that it must not know. */
const name = fc.stringMatching(/^[a-z]{3,8}$/)

const envList = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[A-Z]{1,4}_X$/),
    value: fc.constantFrom(
      '1',
      'yes',
      'y',
      '0644',
      '1_000',
      '',
      '$(FORBEAR_URL)/v1',
      'a: b # c',
      'line\nline\n',
      'end\n\n\n',
    ),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
)

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(fc.option(value, { nil: null }), { nil: undefined })

const container = (names: fc.Arbitrary<string>) =>
  fc.record(
    {
      args: maybe(
        fc.array(fc.constantFrom('-v', 'on', 'set -eu\n# no comment\n\necho a\n', 'keep\n\n', '{{ .Level }}')),
      ),
      image: fc.constantFrom('registry.example/app:1', 'app@sha256:ab'),
      name: names,
      env: maybe(envList),
      ports: fc.constantFrom([], [{ containerPort: 8080 }], [{ name: 'web', containerPort: 15001 }]),
      someFutureField: fc.constantFrom(null, { deep: [1, { on: true }] }),
    },
    { requiredKeys: ['name'] },
  )

export const pod = fc
  .record(
    {
      restartPolicy: fc.constant('Never'),
      initContainers: maybe(fc.array(container(name), { maxLength: 2 })),
      containers: fc.array(container(name), { minLength: 1, maxLength: 3 }),
      volumes: maybe(
        fc.array(fc.record({ name, configMap: fc.constant({ name: 'a', defaultMode: 493 }) }), { maxLength: 2 }),
      ),
      terminationGracePeriodSeconds: fc.constantFrom(10, 30, 60),
      unknownList: fc.constant(['yes', 'no', 1e3]),
    },
    { requiredKeys: ['containers'] },
  )
  .map(spec => ({ ...spec, ...renamed(spec) }))

/** Container names are unique. */
function renamed(spec: { initContainers?: { name: string }[] | null | undefined; containers: { name: string }[] }) {
  const rename = (list: { name: string }[], prefix: string) =>
    list.map((item, index) => ({ ...item, name: `${prefix}${index}${item.name}` }))
  return {
    containers: rename(spec.containers, 'c'),
    ...(spec.initContainers ? { initContainers: rename(spec.initContainers, 'i') } : {}),
  }
}

export const meta = maybe(
  fc.record(
    {
      labels: fc.constantFrom({}, { app: 'shop', 'forbear.dev/inject': 'true' }, { app: 'shop' }),
      annotations: maybe(fc.dictionary(fc.stringMatching(/^[a-z]{2,5}\/[a-z]$/), fc.constantFrom('yes', '', 'a: b'))),
    },
    { requiredKeys: [] },
  ),
)

export const KINDS = [
  'Pod',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'ReplicationController',
  'Job',
  'CronJob',
] as const

const VERSIONS: Readonly<Record<(typeof KINDS)[number], string>> = {
  Pod: 'v1',
  ReplicationController: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  ReplicaSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
}

export const workload = fc
  .tuple(fc.constantFrom(...KINDS), pod, meta)
  .map(([kind, spec, metadata]) => wrapped(kind, spec, metadata))

export function wrapped(kind: (typeof KINDS)[number], podSpec: object, podMeta?: unknown): object {
  const { restartPolicy: _, ...forEver } = podSpec as { restartPolicy?: string }
  const spec = kind === 'Job' || kind === 'CronJob' || kind === 'Pod' ? podSpec : forEver
  const template = { ...(podMeta === undefined ? {} : { metadata: podMeta }), spec }
  const head = { apiVersion: VERSIONS[kind], kind }
  if (kind === 'Pod') return { ...head, ...template }
  const metadata = { name: 'shop', namespace: 'ops' }
  if (kind === 'CronJob')
    return { ...head, metadata, spec: { jobTemplate: { spec: { template } }, schedule: '* * * * *' } }
  return { ...head, metadata, spec: { template, volumeClaimTemplates: [{ spec: { containers: [] } }] } }
}

export const other = fc.constantFrom(
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'shop' }, spec: { type: 'NodePort' } },
  { apiVersion: 'v1', kind: 'ConfigMap', data: { on: 'y', text: '{{ .Alert }}\n# kept\n', n: '0644' } },
)

const inList = fc
  .array(fc.oneof(workload, other), { maxLength: 3 })
  .map(items => ({ apiVersion: 'v1', kind: 'List', items }))

export const object = fc.oneof(
  { weight: 4, arbitrary: workload },
  { weight: 1, arbitrary: inList },
  { weight: 1, arbitrary: other },
)

/** How a stream is laid out. */
export interface Layout {
  readonly indent: 2 | 4
  readonly indentSeq: boolean
  /** Numbers from 0 to 1, used up one by one: which collections are in flow style, which lines get comments. */
  readonly dice: readonly number[]
  readonly crlf: boolean
  readonly bom: boolean
  readonly finalBreak: boolean
  readonly comments: boolean
}

export const layout: fc.Arbitrary<Layout> = fc.record({
  indent: fc.constantFrom(2, 4),
  indentSeq: fc.boolean(),
  dice: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
  crlf: fc.boolean(),
  bom: fc.boolean(),
  finalBreak: fc.boolean(),
  comments: fc.boolean(),
})

/** Where comments at random make something else of it, it goes without. */
export function yamlStream(objects: readonly object[], layout: Layout): string {
  const text = written(objects, layout)
  const sound = parseAllDocuments(text, { version: '1.1' }).every(document => document.errors.length === 0)
  return sound ? text : written(objects, { ...layout, comments: false })
}

function written(objects: readonly object[], layout: Layout): string {
  let thrown = 0
  const roll = () => layout.dice[thrown++ % layout.dice.length] ?? 0
  const documents = objects.map(object => commented(rendered(object, layout, roll), layout, roll))
  const text = documents.map(text => (roll() < 0.3 ? `${text}---\n# nothing\n` : text)).join('---\n')
  return `${layout.bom ? '\ufeff' : ''}${breaks(text, layout)}`
}

function breaks(text: string, { crlf, finalBreak }: Layout): string {
  const ended = finalBreak ? text : text.replace(/\n+$/, '')
  return crlf ? ended.replaceAll('\n', '\r\n') : ended
}

function rendered(object: object, { indent, indentSeq }: Layout, roll: () => number): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false })
  visit(document, {
    Collection: (_, node) => {
      if (isCollection(node) && roll() < 0.12) node.flow = true
    },
    Pair: (_, { value }) => {
      // An empty value, `~` and `null` are the same.
      if (isScalar(value) && value.value === null) value.source = ['', '~', 'null'][Math.floor(roll() * 2.99)] ?? ''
      if (isMap(value) && value.items.length === 0) value.flow = true
      if (isSeq(value) && value.items.length === 0) value.flow = true
    },
  })
  return document.toString({ indent, indentSeq, lineWidth: 0, version: '1.1' } as object)
}

/** Also where they become text of a block scalar: then that is what the user wrote. */
function commented(text: string, { comments }: Layout, roll: () => number): string {
  if (!comments) return text
  return text
    .split('\n')
    .flatMap(line => {
      const dice = roll()
      if (dice < 0.06 && line !== '') return [`${line} # said`]
      if (dice < 0.12) return [`${/^ */.exec(line)?.[0]}# told`, line]
      if (dice < 0.15) return ['# at the edge', line]
      if (dice < 0.18) return ['', line]
      return [line]
    })
    .join('\n')
}

export function jsonStream(
  objects: readonly object[],
  step: string | number,
  { crlf, bom, finalBreak }: Layout,
): string {
  const text = objects.map(object => JSON.stringify(object, null, step)).join('\n')
  const ended = finalBreak ? `${text}\n` : text
  return `${bom ? '\ufeff' : ''}${crlf ? ended.replaceAll('\n', '\r\n') : ended}`
}
