interface Frame {
  /** Of a typed literal, such as `Object.spec.volumes`; none for a map, a list, or parentheses. */
  readonly type: string | undefined
  /** The key whose value is being read. */
  field: string
}

export interface Untyped {
  /** The same expression with typed literals as maps, for an evaluator that has maps alone. */
  readonly expression: string
  /** Types that are not where they stand: `Object.spec.volumes` is only in `Object{spec: Object.spec{volumes: …}}`. */
  readonly misplaced: readonly string[]
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|[{}()[\],:]|\s+|./gs

/** Takes the type names away from `Type{field: value}`. Fields are names there, and strings in a map. */
export function untype(expression: string): Untyped {
  const frames: Frame[] = []
  const misplaced: string[] = []
  const out: string[] = []
  const tokens = expression.match(TOKENS) ?? []
  let before = ''
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    if (/^[A-Za-z_]/.test(token) && next === '{') {
      if (isMisplaced(token, frames)) misplaced.push(token)
      out.push('')
    } else if (isField(token, before, next, frames)) {
      ;(frames.at(-1) as Frame).field = token
      out.push(JSON.stringify(token))
    } else {
      out.push(token)
    }
    if ('{(['.includes(token)) frames.push({ type: token === '{' ? typeName(before) : undefined, field: '' })
    if ('})]'.includes(token)) frames.pop()
    if (token.trim() !== '') before = token
  }
  return { expression: out.join(''), misplaced }
}

function typeName(before: string): string | undefined {
  return /^[A-Za-z_]/.test(before) ? before : undefined
}

function isField(token: string, before: string, next: string | undefined, frames: readonly Frame[]): boolean {
  return next === ':' && (before === '{' || before === ',') && frames.at(-1)?.type !== undefined && /^\w+$/.test(token)
}

/** Below another `Object…` literal a type is that one's and the field's; directly in a patch it may be any. */
function isMisplaced(type: string, frames: readonly Frame[]): boolean {
  const around = frames.findLast(frame => frame.type !== undefined)
  return around?.type?.startsWith('Object') === true && type !== `${around.type}.${around.field}`
}
