import { type Document, isMap, isScalar, isSeq, type Node, type Pair, visit } from 'yaml'

/** Something that another tool was to fill in first. */
export interface Template {
  readonly offset: number
  readonly tool: string
}

/**
 * In the text of a document that cannot be parsed any mark counts. In one that can, a mark counts where nobody would
 * want it: text that an app is to get may well hold `{{ }}`.
 */
export function templateIn(text: string, document: Document, isWorkload: boolean): Template | null {
  const offset = document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')
    ? markIn(text, document)
    : (nodeWithMark(text, document, isWorkload) ?? null)
  return offset === null ? null : { offset, tool: toolFor(text, offset) }
}

/** Where the parser stumbled its range is no longer true: from the start of the document on. */
function markIn(text: string, document: Document): number | null {
  const from = document.range?.[0] ?? 0
  const mark = /\{\{|\{%|<%/.exec(text.slice(from))
  return mark === null ? null : from + mark.index
}

function nodeWithMark(text: string, document: Document, isWorkload: boolean): number | undefined {
  let found: number | undefined
  visit(document, {
    Map: (_, node) => {
      const start = node.range?.[0] ?? 0
      const first = node.items[0]
      if (node.flow !== true || !isMap(first?.key) || !text.startsWith('{{', start)) return undefined
      found = start
      return visit.BREAK
    },
    Pair: (_, pair, ancestors) => {
      if (!isWorkload || !isPlace(pair, ancestors) || !isMarked(pair.value)) return undefined
      found = (pair.value as Node).range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return found
}

const PLACES = ['name', 'namespace', 'image', 'imagePullPolicy', 'serviceAccountName', 'replicas', 'containerPort']
const MAPS_OF_PLACES = ['labels', 'matchLabels', 'nodeSelector']

/** Names, images and labels: what Kubernetes itself reads. */
function isPlace({ key }: Pair, ancestors: readonly unknown[]): boolean {
  if (isScalar(key) && PLACES.includes(String(key.value))) return true
  const around = ancestors.at(-2) as Pair | undefined
  return isScalar(around?.key) && MAPS_OF_PLACES.includes(String(around.key.value))
}

function isMarked(value: unknown): boolean {
  if (isSeq(value)) return isSeq(value.items[0])
  if (!isScalar(value)) return false
  // ytt and Octopus write into comments.
  if (value.value === null) return /^[@{]/.test(value.comment ?? '')
  return typeof value.value === 'string' && MARK.test(value.value)
}

/** No name, image or label may hold one of these. */
const MARK = /\{\{|\{%|<%|\$\{|\$\w|\(\(|\[\[|#\{|@[\w.-]+@|%\w+%|<\w+>/

function toolFor(text: string, offset: number): string {
  const mark = MARK.exec(text.slice(offset, offset + 200))?.[0]
  if (mark?.startsWith('$')) return 'envsubst, or whatever fills in the variables,'
  if (mark === undefined) return 'ytt'
  if (mark === '<%') return 'erb'
  if (mark === '{%') return 'the tool that renders Jinja (Ansible, jinja2)'
  if (mark !== '{{') return 'the tool that fills it in'
  return /\.(?:Values|Release|Chart)\b|\b(?:include|nindent|tpl)\b/.test(text)
    ? 'helm template'
    : 'the tool that the template is for (such as helm template or Ansible)'
}
