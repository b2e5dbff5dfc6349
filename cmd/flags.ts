import { InvalidArgumentError, Option } from 'commander'
import { parseDurationMs } from '../src/policy/duration.js'

/** `--log-level` → also `FORBEAR_LOG_LEVEL`. */
export function flag(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.env(`FORBEAR_${option.name().replaceAll('-', '_').toUpperCase()}`)
}

export function durationMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === null) throw new InvalidArgumentError('write a duration such as 25s.')
  return ms
}
