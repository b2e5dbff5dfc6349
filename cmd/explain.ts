import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Snapshot } from '../src/core/snapshot.js'
import type { CallAddress } from '../src/policy/call-address.js'
import type { ExplainedCall } from '../src/policy/explain.js'
import { EXIT } from './exit-codes.js'
import { explainCode } from './explain-code.js'
import { explainField } from './explain-field.js'

interface ExplainFlags {
  readonly policies?: string
  readonly field?: string
  readonly code?: string
  /** Flat. */
  readonly header: readonly string[]
  readonly output: 'text' | 'json'
}

export function registerExplain(program: Command): void {
  program
    .command('explain')
    .description('tell what happens to one call, and which line of which file says so')
    .argument('[method]', 'of the call', (text: string) => text.toUpperCase())
    .argument('[url]', 'absolute, or a path on the shared port')
    .option('--policies <dir>', 'directory with the policy files')
    .addOption(
      new Option('--field <path>', 'tell what a field or section is for, instead; "." lists all').conflicts('code'),
    )
    .option('--code <code>', 'tell what a code of `forbear check` means, instead')
    .addOption(
      new Option('-H, --header <line>', 'header of the call, may be repeated')
        .argParser(collectHeader)
        .default([], 'none'),
    )
    .addOption(new Option('--output <format>', 'for people or for tools').choices(['text', 'json']).default('text'))
    .addHelpText('after', EXAMPLES)
    .action(async (method: string | undefined, url: string | undefined, flags: ExplainFlags, command: Command) => {
      const { code, field, policies } = flags
      if (method !== undefined && (code ?? field) !== undefined) {
        command.error(`error: with --${code === undefined ? 'field' : 'code'} no call is told: leave ${method} out`)
      }
      if (code !== undefined) process.exitCode = await explainCode(code)
      else if (field !== undefined) process.exitCode = await explainField(field, flags.output)
      else if (method === undefined || url === undefined || policies === undefined) {
        command.error('error: a method, a URL and --policies <dir> are needed, or --field <path>, or --code <code>')
      } else process.exitCode = await explain(method, url, { ...flags, policies })
    })
}

const EXAMPLES = `
Examples:
  $ forbear explain --policies ./policies GET /flaky/orders/1
  $ forbear explain --field retry.backoff.jitter
  $ forbear explain --code FB036`

/** `Name: value`, as curl takes it. */
function collectHeader(line: string, before: readonly string[]): readonly string[] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new InvalidArgumentError('write it as "Name: value".')
  return [...before, line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
}

interface CallFlags extends ExplainFlags {
  readonly policies: string
}

async function explain(method: string, url: string, flags: CallFlags): Promise<number> {
  const [{ isMethod, parseCallAddress }, policies, { formatMessages }] = await Promise.all([
    import('../src/policy/call-address.js'),
    loadDirectory(flags.policies),
    import('../src/policy/messages.js'),
  ])
  const address = parseCallAddress(url)
  if (!isMethod(method) || address === null) {
    const wrong = isMethod(method)
      ? `${url} is neither an http:// or https:// URL nor a path such as /shop/orders`
      : `${method} is not an HTTP method, such as GET`
    process.stderr.write(`forbear: ${wrong}\n`)
    return EXIT.usage
  }
  if (!policies.loaded.ok) {
    process.stderr.write(`${formatMessages(policies.loaded.messages)}\n`)
    return EXIT.configuration
  }
  const { snapshot } = policies.loaded
  const found = await findCall(snapshot, method, address, flags.header)
  if (found === null) return tellNearUpstreams(snapshot, { method, url }, address, flags)
  const { explainData, explainText } = await import('../src/policy/explain.js')
  const fields = policies.explain(found.upstream.name, found.route?.name ?? null)
  const places = policies.places(found.upstream.name)
  const call: ExplainedCall = { method, url, headers: flags.header, fields, places, ...found }
  process.stdout.write(flags.output === 'json' ? `${JSON.stringify(explainData(call))}\n` : explainText(call))
  return EXIT.ok
}

async function tellNearUpstreams(
  snapshot: Snapshot,
  call: { readonly method: string; readonly url: string },
  address: CallAddress,
  { header, output }: CallFlags,
): Promise<number> {
  const [{ nearUpstreams }, { headerValue }] = await Promise.all([
    import('../src/policy/near-upstreams.js'),
    import('../src/core/headers.js'),
  ])
  const name = headerValue(header, 'forbear-upstream') ?? null
  const host = headerValue(header, 'host') ?? null
  const near = nearUpstreams(snapshot, { ...address, name, host })
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify({ ...call, upstream: null, nearUpstreams: near })}\n`)
  } else {
    const lines = near.map(({ upstream, text }) => `  ${upstream}: ${text}\n`)
    process.stderr.write(`no upstream takes ${call.method} ${call.url}\n${lines.join('')}`)
  }
  return EXIT.problems
}

async function loadDirectory(dir: string) {
  const [{ loadPolicies }, { explainPolicy, routePlaces }, { readPolicyDirectory }] = await Promise.all([
    import('../src/policy/load.js'),
    import('../src/policy/provenance.js'),
    import('../src/policy/source.js'),
  ])
  const source = readPolicyDirectory(dir)
  return {
    loaded: loadPolicies(source, { mode: 'all', generation: 1 }),
    explain: (upstream: string, route: string | null) => explainPolicy(source, upstream, route) ?? [],
    places: (upstream: string) => routePlaces(source, upstream),
  }
}

/** As the running sidecar would: an own port first, else whatever the shared port makes of it. */
async function findCall(snapshot: Snapshot, method: string, address: CallAddress, headers: readonly string[]) {
  const [{ headerValue }, { compileRouter, matchRoute }, { ownPortOf }] = await Promise.all([
    import('../src/core/headers.js'),
    import('../src/pipeline/route.js'),
    import('../src/policy/call-address.js'),
  ])
  const own = ownPortOf(snapshot, address)
  const { authority, path } = address
  const shared = compileRouter(snapshot).matchShared({
    authority,
    forbearUpstream: headerValue(headers, 'forbear-upstream') ?? null,
    host: headerValue(headers, 'host') ?? authority,
    path,
  })
  const match = own === null ? shared : { upstream: own, path, via: 'own-port' as const }
  if (match === null || 'invalid' in match) return null
  return { ...match, route: matchRoute(match.upstream, method, match.path, headers) }
}
