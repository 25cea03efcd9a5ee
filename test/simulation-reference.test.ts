// docs/simulation.md has tables of all faults and oracles. `npm test -- test/simulation-reference -u` rewrites them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtinFaults, builtinOracles } from '../packages/simulator/src/index.ts'

const file = join(import.meta.dirname, '../docs/simulation.md')

/** A table with a row for each name, which joins the texts of the definitions that share it. */
function table(head: readonly [string, string], rows: readonly (readonly [name: string, text: string])[]): string {
  const texts = new Map<string, string[]>()
  for (const [name, text] of rows) texts.set(name, [...(texts.get(name) ?? []), text])
  return [
    `| ${head.join(' | ')} |`,
    '|---|---|',
    ...[...texts].map(([name, parts]) => `| \`${name}\` | ${parts.join('; ')} |`),
  ].join('\n')
}

const between = (page: string, name: string, text: string): string =>
  page.replace(
    new RegExp(`(<!-- The ${name}, from .*? -->\\n).*?(\\n<!-- End of the ${name}\\. -->)`, 's'),
    (_, start: string, end: string) => `${start}${text}${end}`,
  )

test('docs/simulation.md lists the faults and the oracles', async () => {
  const faults = table(
    ['class', 'faults'],
    builtinFaults.map((fault) => [fault.class, fault.summary]),
  )
  const oracles = table(
    ['oracle', 'property'],
    builtinOracles.map(({ name, property }) => [name, property]),
  )
  const page = between(between(readFileSync(file, 'utf8'), 'faults', faults), 'oracles', oracles)
  await expect(page).toMatchFileSnapshot(file)
})
