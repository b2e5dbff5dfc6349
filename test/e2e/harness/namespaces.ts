/** Commands that run another one where something is missing or mounted that a test cannot take from the whole machine. */
import { spawnSync } from 'node:child_process'

/** Why tests with namespaces of their own are skipped here; `null` = they run. */
export function whyNoNamespaces(): string | null {
  const { status, stderr, error } = spawnSync('unshare', ['-rm', 'true'], { encoding: 'utf8' })
  return status === 0 ? null : `no user and mount namespaces: ${error?.message ?? stderr.trim()}`
}

/** None is left of what the kernel gives a user; the limits of a user namespace are its own (namespaces(7), /proc/sys/user). */
export function withoutInotify(what: 'instances' | 'watches'): readonly string[] {
  return ['unshare', '-Ur', 'sh', '-ec', `echo 0 > /proc/sys/user/max_inotify_${what}; exec "$@"`, 'sh']
}

/** Mounts are seen by the command alone. `path` on `point`, a file or a directory, read-only as the kubelet mounts it. */
export function withReadOnlyMount(path: string, point: string): readonly string[] {
  const script = 'mount --bind "$1" "$2"; mount -o remount,ro,bind "$2"; shift 2; exec "$@"'
  return ['unshare', '-rm', 'sh', '-ec', script, 'sh', path, point]
}
