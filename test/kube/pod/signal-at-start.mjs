// Loaded before the command: sends it SIGTERM while it reads its policies, and tells of it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { readdirSync } = fs
fs.readdirSync = (...args) => {
  fs.readdirSync = readdirSync
  syncBuiltinESMExports()
  process.kill(process.pid, 'SIGTERM')
  process.stdout.write('{"msg":"signalled"}\n')
  return readdirSync(...args)
}
syncBuiltinESMExports()
