import { EXIT } from './exit-codes.js'

/** Prints what the schemas say of a field; gives the exit code. */
export async function explainField(path: string, output: 'text' | 'json'): Promise<number> {
  const [{ fieldDocs }, { fieldDocsText }] = await Promise.all([
    import('../src/policy/field-docs.js'),
    import('../src/policy/field-docs-text.js'),
  ])
  const result = fieldDocs(path)
  if (!result.found) {
    const { suggestions } = result
    const hint = suggestions.length === 0 ? '; --field . lists all' : `; did you mean ${suggestions.join(' or ')}?`
    process.stderr.write(`forbear: there is no field ${path}${hint}\n`)
    return EXIT.usage
  }
  process.stdout.write(output === 'json' ? `${JSON.stringify(result.docs)}\n` : fieldDocsText(result.docs))
  return EXIT.ok
}
