// Prints `clean`, `unknown:WHY` (the registry gave no answer) or the findings. `node read-audit.mjs JSON STDERR`
import { readFileSync } from 'node:fs'

const [jsonPath, errorPath] = process.argv.slice(2)

function verdict() {
  let report
  try {
    report = JSON.parse(readFileSync(jsonPath, 'utf8'))
  } catch {
    report = {}
  }
  if (report.metadata?.vulnerabilities === undefined) return `unknown:${reason(report)}`
  if (report.metadata.vulnerabilities.total === 0) return 'clean'
  return Object.values(report.vulnerabilities)
    .map(found => `${found.severity}: ${found.name} ${found.range}`)
    .join('\n')
}

/** Without addresses: where packages come from is the machine's own affair. */
function reason(report) {
  const said =
    report.message ??
    readFileSync(errorPath, 'utf8')
      .split('\n')
      .find(line => line !== '')
  return String(said ?? 'npm said nothing').replaceAll(/\bhttps?:\/\/\S+/g, 'the registry')
}

console.log(verdict())
