import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { dataTarget } from './directory-stamp.js'
import { isPolicyFile } from './source.js'

export interface MountReport {
  readonly level: 'info' | 'warn'
  readonly message: string
}

/** Whether an edit of the policies can reach this process, in words. */
export async function describeMount(dir: string): Promise<MountReport> {
  if ((await dataTarget(dir)) !== null) {
    return { level: 'info', message: `${dir} is a mounted ConfigMap or Secret: an edit arrives when the kubelet syncs` }
  }
  const alone = await mountedFilesOf(dir)
  if (alone.length > 0) {
    return {
      level: 'warn',
      message: `${alone.join(', ')}: mounted as a single file (subPath), so edits never arrive; mount the whole directory`,
    }
  }
  return { level: 'info', message: `${dir} is a plain directory: an edit arrives when the file is written` }
}

/**
 * Policy files of `dir` that are mounts of their own.
 * @param mountInfo text of /proc/self/mountinfo; the fifth field is the mount point (proc_pid_mountinfo(5))
 */
export function mountedFiles(mountInfo: string, dir: string): string[] {
  return mountInfo
    .split('\n')
    .map(line => unescaped(line.split(' ')[4] ?? ''))
    .filter(point => isPolicyFile(basename(point)) && dirname(point) === dir)
}

async function mountedFilesOf(dir: string): Promise<string[]> {
  try {
    return mountedFiles(await readFile('/proc/self/mountinfo', 'utf8'), await realpath(dir))
  } catch {
    // No such file outside Linux, where a pod does not run either.
    return []
  }
}

/** Space, tab, newline and backslash are written as three octal digits. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
