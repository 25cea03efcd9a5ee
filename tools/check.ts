// `npm run check`: all static checks. Every step runs even if an earlier one failed, so that one run reports all
// problems.
import { runStep, type Step } from './run-step.ts'

const node = process.execPath
const tool = (label: string, file: string, ...args: string[]): Step => ({
  label,
  command: node,
  args: ['--conditions=kubewright-source', '--import', 'tsx', `tools/${file}`, ...args],
})
const bin = (label: string, file: string, ...args: string[]): Step => ({ label, command: node, args: [file, ...args] })

const steps: readonly Step[] = [
  bin('types: packages', 'node_modules/ts7/bin/tsc', '-b'),
  bin('types: page of the console', 'node_modules/ts7/bin/tsc', '-p', 'packages/console/page'),
  bin('types: tests, tools, benchmarks', 'node_modules/ts7/bin/tsc', '-p', 'tsconfig.test.json'),
  bin('lint and format', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
  bin('promises and clocks', 'node_modules/eslint/bin/eslint.js', '.'),
  tool('bundles', 'bundle.ts'),
  tool('package boundaries', 'check-boundaries.ts'),
  tool('descriptions of built-in kinds', 'check-descriptions.ts'),
  tool('API reports', 'api-report.ts', '--check'),
  tool('code in the docs', 'check-docs.ts'),
  tool('pages and links of the site', 'site/main.ts', 'check'),
  bin('unused exports and dependencies', 'node_modules/knip/bin/knip.js'),
  tool('one version', 'release.ts', 'check'),
  tool('packed packages', 'check-packages.ts'),
]

const only = process.argv.slice(2)
const chosen = steps.filter((s) => only.length === 0 || only.some((word) => s.label.includes(word)))
// The longest step uses one core and depends on the types only: it runs beside the steps after it.
const longest = chosen.find((step) => step.label === 'promises and clocks')
let beside: ReturnType<typeof runStep> | undefined
let failed = 0
for (const step of [...chosen.filter((s) => s !== longest), ...(longest ? [longest] : [])]) {
  if (process.stdout.isTTY) process.stdout.write(`  … ${step.label}`)
  if (longest && !step.label.startsWith('types')) beside ??= runStep(longest)
  const result = await (step === longest && beside !== undefined ? beside : runStep(step))
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[K')
  console.log(`${result.code === 0 ? '✓' : '✗'} ${step.label} (${result.seconds.toFixed(1)} s)`)
  if (result.code !== 0) {
    failed++
    console.log(result.output.replace(/^/gm, '    '))
  }
}
console.log(failed === 0 ? 'check: all steps passed' : `check: ${failed} of ${steps.length} steps failed`)
process.exitCode = failed === 0 ? 0 : 1
