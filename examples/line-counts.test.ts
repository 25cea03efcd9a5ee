// The READMEs of the examples from kubebuilder's book compare their size with the Go programs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test.each([
  ['cron-job', 250],
  ['memcached', 70],
])('the README of %s states its number of lines, at most %i', (example, limit) => {
  const folder = join(import.meta.dirname, example)
  const sources = readdirSync(join(folder, 'src')).filter((file) => !file.endsWith('.test.ts'))
  const lines = sources.reduce((sum, file) => {
    return sum + readFileSync(join(folder, 'src', file), 'utf8').split('\n').length - 1
  }, 0)
  expect(lines).toBeLessThanOrEqual(limit)
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(readme).toContain(`| \`src/\`, without tests | ${lines} |`)
})
