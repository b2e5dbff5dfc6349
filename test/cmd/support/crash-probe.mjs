/** Loaded before the command: tells its process id, and crashes when it is asked to. */
import { writeFileSync } from 'node:fs'

writeFileSync(process.env.PID_FILE, String(process.pid))
process.on('SIGUSR2', () => {
  throw new Error('a crash for the test')
})
