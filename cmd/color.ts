/** Whether to colour what goes to `stream`: https://no-color.org and https://force-color.org, the latter first, as Node has it. */
export function wantsColor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const force = env['FORCE_COLOR']
  if (force) return force !== '0' && force !== 'false'
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}
