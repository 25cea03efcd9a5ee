// `npm test`: compiles everything, then runs all tests and prints one line of counts. Arguments are passed to vitest:
// `npm test -- packages/api` runs the tests of one package.
import { spawnSync } from 'node:child_process'

const run = (args: readonly string[]): number =>
  spawnSync(process.execPath, [...args], {
    stdio: 'inherit',
    env: { ...process.env, FORCE_COLOR: process.env['FORCE_COLOR'] ?? '0' },
  }).status ?? 1

const compiled = run(['node_modules/ts7/bin/tsc', '-b'])
const types = compiled === 0 ? run(['node_modules/ts7/bin/tsc', '-p', 'tsconfig.test.json']) : compiled
if (types !== 0) {
  console.error('The code or the type tests do not compile; no tests were run')
  process.exitCode = types
} else {
  process.exitCode = run(['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)])
}
