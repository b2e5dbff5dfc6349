// Prints `passed failed skipped` of a vitest JSON report. `node count-tests.mjs REPORT EXIT_CODE`
import { readFileSync } from 'node:fs'

const [reportPath, exitCode] = process.argv.slice(2)

function count() {
  let report
  try {
    report = JSON.parse(readFileSync(reportPath, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
  // A file that does not load has no tests of its own, and an error outside of every test shows in the exit code alone.
  const broken = report.testResults.filter(file => file.status === 'failed' && file.assertionResults.length === 0)
  const failed = report.numFailedTests + broken.length
  const unseen = failed === 0 && (exitCode !== '0' || report.numTotalTests === 0) ? 1 : 0
  return {
    passed: report.numPassedTests,
    failed: failed + unseen,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

const { passed, failed, skipped } = count()
console.log(`${passed} ${failed} ${skipped}`)
