/** An ESTree node, read without trust: only `type` and `start` are sure. */
export interface Node {
  readonly type: string
  /** Offset in UTF-16 units. */
  readonly start: number
  readonly [field: string]: unknown
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** Visits every node below and including `node`, with its parent and the field it sits in. */
export function walk(
  node: Node,
  visit: (node: Node, parent: Node | null, field: string) => void,
  parent: Node | null = null,
  field = '',
): void {
  visit(node, parent, field)
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, node, name)
    }
  }
}

/** The text of a plain string, else `null`. */
export function stringOf(value: unknown): string | null {
  if (!isNode(value)) return null
  if (value.type === 'Literal' && typeof value['value'] === 'string') return value['value']
  return null
}
