import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'

export function registerSchema(program: Command): void {
  program
    .command('schema')
    .description('print the JSON Schema of policy files, for editors and other tools')
    .argument('[kind]', 'Upstream, Policy, or any for files that hold both; without it, lists them')
    .addHelpText(
      'after',
      '\nExample:\n  $ forbear schema any > forbear.schema.json\n' +
        '\nThen write above each document of a policy file:\n' +
        '  # yaml-language-server: $schema=forbear.schema.json',
    )
    .action(async (kind: string | undefined) => {
      process.exitCode = await printSchema(kind)
    })
}

async function printSchema(word: string | undefined): Promise<number> {
  const [{ SCHEMA_KINDS, publishedSchema, schemaSummary }, { nearest }] = await Promise.all([
    import('../src/policy/published-schema.js'),
    import('../src/policy/nearest.js'),
  ])
  if (word === undefined) {
    process.stdout.write(SCHEMA_KINDS.map(kind => `${kind.padEnd(9)} ${schemaSummary(kind)}\n`).join(''))
    return EXIT.ok
  }
  const kind = SCHEMA_KINDS.find(known => known.toLowerCase() === word.toLowerCase())
  if (kind === undefined) {
    const near = nearest(word, SCHEMA_KINDS)
    const hint = near === null ? '' : `; did you mean ${near}?`
    process.stderr.write(`forbear: there is no kind ${word}: ${SCHEMA_KINDS.join(', ')}${hint}\n`)
    return EXIT.usage
  }
  process.stdout.write(`${JSON.stringify(publishedSchema(kind), null, 2)}\n`)
  return EXIT.ok
}
