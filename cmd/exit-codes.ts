/** What the process tells whoever started it. */
export const EXIT = {
  ok: 0,
  /** `check` found problems, or `explain` no upstream. */
  problems: 1,
  /** Unknown command or flag, or a value that makes no sense. */
  usage: 2,
  /** EX_CONFIG of sysexits: the policies or addresses are unusable. */
  configuration: 78,
} as const
