/** The terminal as a whole screen, and back to what it was, whatever ends the process. */
import { writeSync } from 'node:fs'
import { emitKeypressEvents } from 'node:readline'
import type { Size } from './screen.js'
import type { Key } from './view-state.js'

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[2J'
const LEAVE = '\u001b[0m\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const STDOUT = 1
/** A signal to itself has stopped the process by then. */
const RESUME_MS = 50
/** A terminal that tells no size. */
const DEFAULT_SIZE: Size = { columns: 80, rows: 24 }

export interface Terminal {
  readonly size: Size
  draw(lines: readonly string[]): void
  /** Gives the shell its turn, until `fg`. */
  suspend(): void
  /** A second time does nothing. */
  leave(): void
}

export interface Listeners {
  onKey(key: Key): void
  /** Another size, or back from a suspension: draw again. */
  onResize(): void
}

export function takeTerminal({ onKey, onResize }: Listeners): Terminal {
  const { stdin: input, stdout: output } = process
  let taken = false
  let resuming: NodeJS.Timeout | undefined
  const onKeypress = (_: string | undefined, key: Key): void => onKey(key)

  function enter(): void {
    taken = true
    if (input.isTTY) input.setRawMode(true)
    output.write(ENTER)
  }

  /** Written at once: on the way out nothing asynchronous is done any more. */
  function giveBack(): void {
    if (!taken) return
    taken = false
    try {
      writeSync(STDOUT, LEAVE)
      if (input.isTTY) input.setRawMode(false)
    } catch {
      // The terminal is gone (EIO): there is nobody to leave it to.
    }
  }

  function resume(): void {
    enter()
    onResize()
  }

  process.on('exit', giveBack)
  output.on('resize', onResize)
  if (input.isTTY) {
    emitKeypressEvents(input)
    input.on('keypress', onKeypress).resume()
  }
  enter()

  return {
    get size() {
      return { columns: output.columns || DEFAULT_SIZE.columns, rows: output.rows || DEFAULT_SIZE.rows }
    },
    draw: lines => {
      if (taken) output.write(HOME + lines.map(line => line + CLEAR_LINE).join('\r\n') + CLEAR_BELOW)
    },
    suspend() {
      giveBack()
      process.kill(0, 'SIGTSTP')
      // Rings after `fg`; at once where nobody could say that (no shell with job control) and the signal does nothing.
      resuming = setTimeout(resume, RESUME_MS)
    },
    leave() {
      giveBack()
      process.off('exit', giveBack)
      clearTimeout(resuming)
      output.off('resize', onResize)
      input.off('keypress', onKeypress).pause()
    },
  }
}
