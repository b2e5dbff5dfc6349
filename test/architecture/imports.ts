import { isNode, type Node, stringOf, walk } from './syntax-tree.js'

export interface Import {
  /** `null` when it is not a plain string. */
  readonly specifier: string | null
  /** `value` = loaded with the module, `lazy` = `import()`, `type` = erased. */
  readonly kind: 'value' | 'lazy' | 'type'
  readonly offset: number
}

/** Every way in which a module names another one, types included. */
export function importsOf(program: object): Import[] {
  const found: Import[] = []
  walk(program as Node, node => {
    const one = importOf(node)
    if (one !== null) found.push(one)
  })
  return found
}

function importOf(node: Node): Import | null {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: stringOf(node['source']), kind: kindOf(node, 'importKind'), offset: node.start }
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      if (!isNode(node['source'])) return null
      return { specifier: stringOf(node['source']), kind: kindOf(node, 'exportKind'), offset: node.start }
    case 'ImportExpression':
      return { specifier: stringOf(node['source']), kind: 'lazy', offset: node.start }
    case 'TSImportType':
      return { specifier: stringOf(node['source']), kind: 'type', offset: node.start }
    case 'TSExternalModuleReference':
      return { specifier: stringOf(node['expression']), kind: 'value', offset: node.start }
    case 'CallExpression':
      return requireOf(node)
    default:
      return null
  }
}

/** `require('x')`, and `createRequire(…)('x')` made on the spot, which is how a package is loaded late and in step. */
function requireOf(node: Node): Import | null {
  const callee = node['callee']
  const onTheSpot = isNode(callee) && callee.type === 'CallExpression' && nameOf(callee['callee']) === 'createRequire'
  if (!onTheSpot && nameOf(callee) !== 'require') return null
  const args = node['arguments']
  const specifier = stringOf(Array.isArray(args) ? args[0] : null)
  return { specifier, kind: onTheSpot ? 'lazy' : 'value', offset: node.start }
}

function nameOf(value: unknown): string | null {
  return isNode(value) && value.type === 'Identifier' ? String(value['name']) : null
}

/** Under `verbatimModuleSyntax` only `import type` vanishes; `import { type A }` still loads the module. */
function kindOf(node: Node, field: 'importKind' | 'exportKind'): 'value' | 'type' {
  return node[field] === 'type' ? 'type' : 'value'
}
