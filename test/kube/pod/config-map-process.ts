/** A process of its own that writes mounted ConfigMaps, as the kubelet does: one order a line, one line when it is done. */
import { createInterface } from 'node:readline'
import { ConfigMapDir, type Files, type LinkOrder } from '../../support/config-map.js'

interface Order {
  readonly id: number
  readonly path: string
  readonly files: Files
  readonly links: LinkOrder
}

createInterface(process.stdin).on('line', async line => {
  const { id, path, files, links } = JSON.parse(line) as Order
  const error = await new ConfigMapDir(path, links).write(files).then(
    () => null,
    failure => String(failure),
  )
  process.stdout.write(`${JSON.stringify({ id, error })}\n`)
})
