import { EXIT } from './exit-codes.js'

/** Prints what a message code means; gives the exit code. */
export async function explainCode(code: string): Promise<number> {
  const { codeText } = await import('../src/policy/code-text.js')
  const found = codeText(code)
  if (found.ok) process.stdout.write(found.text)
  else process.stderr.write(`forbear: ${found.error}\n`)
  return found.ok ? EXIT.ok : EXIT.usage
}
