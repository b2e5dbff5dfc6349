/** A host of its own at the other end of a wire; ends with its parent. */
import { upstream } from './town.mjs'

process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
await upstream('peer', 8443, '0.0.0.0')
process.stdout.write('listening\n')
