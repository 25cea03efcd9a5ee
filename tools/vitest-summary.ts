import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one line of counts, and prints the reason for each skipped test. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0
    let failed = unhandled.length
    let skipped = 0
    for (const module of modules) {
      // A hook that fails skips the tests of its suite: the suite itself counts as failed.
      for (const suite of [module, ...module.children.allSuites()]) if (suite.errors().length > 0) failed++
      for (const test of module.children.allTests()) {
        const result = test.result()
        if (result.state === 'passed') passed++
        else if (result.state === 'failed') failed++
        else {
          skipped++
          // The reason is in the note, or in the name of the skipped suite.
          const note = result.state === 'skipped' && result.note ? ` (${result.note})` : ''
          console.log(`skipped: ${test.fullName}${note}`)
        }
      }
    }
    // Printed on exit, so that it is the last line, after the output of other reporters.
    process.on('exit', () => console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`))
  }
}
