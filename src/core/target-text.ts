import type { TargetSnapshot } from './snapshot.js'

/** As a policy writes it. */
export function targetText({ protocol, authority, basePath, socketPath }: TargetSnapshot): string {
  if (socketPath === undefined) return `${protocol}//${authority}${basePath}`
  return `${protocol}//unix:${socketPath}${basePath === '' ? '' : `:${basePath}`}`
}
