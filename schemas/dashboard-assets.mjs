// The dashboard's files and the plot library as one module of strings: they are served without a look at the disk,
// so they are also there when the command is a single file.
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** uPlot's file for `<script>` sets a variable; the page wants a module. Its licence goes with it. */
function plotLibrary(root) {
  const read = name => readFileSync(join(root, 'node_modules/uplot', name), 'utf8')
  const licence = `/*\n${read('LICENSE').trim()}\n*/\n`
  return {
    'uplot.mjs': `${licence}${anyLanguage(read('dist/uPlot.iife.min.js').trim())}\nexport default uPlot\n`,
    'uplot.css': `${licence}${read('dist/uPlot.min.css').trim()}\n`,
  }
}

/** A browser's language may be no tag that `Intl` takes (`en-US@posix` under LC_ALL=C): the library would not even load. */
function anyLanguage(script) {
  const fixed = script.replace(/Intl\.NumberFormat\([^()]*\.language:"en-US"\)/, 'Intl.NumberFormat()')
  if (fixed === script) throw new Error('uPlot asks for the language of the browser in another way now')
  return fixed
}

export function assetsModule(banner, root) {
  const dir = join(root, 'src/admin/dashboard/assets')
  const own = readdirSync(dir)
    .sort()
    .map(name => [name, readFileSync(join(dir, name), 'utf8')])
  const assets = [...own, ...Object.entries(plotLibrary(root))].map(([name, text]) => [
    name,
    { contentType: TYPES[extname(name)], text },
  ])
  return `/** ${banner} */

export interface Asset {
  readonly contentType: string
  readonly text: string
}

export const ASSETS: Readonly<Record<string, Asset>> = ${JSON.stringify(Object.fromEntries(assets), null, 2)}
`
}
