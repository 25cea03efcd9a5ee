import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with one line of counts, and names each skipped test with its reason. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0
    let failed = unhandled.length
    let skipped = 0
    for (const module of modules) {
      if (module.children.size === 0 && module.state() === 'failed') failed++
      for (const test of module.children.allTests()) {
        const result = test.result()
        if (result.state === 'passed') passed++
        else if (result.state === 'failed') failed++
        else {
          skipped++
          // The reason is in the note, or in the name of the suite that was skipped as a whole.
          const note = result.state === 'skipped' && result.note ? ` (${result.note})` : ''
          console.log(`skipped: ${test.fullName}${note}`)
        }
      }
    }
    // The line must be the last one, after what other reporters still write in this turn.
    process.on('exit', () => console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`))
  }
}
