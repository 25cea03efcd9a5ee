// `npm run bench [-- word]`: runs the suites of bench/ whose file name contains the word. Rewrites RESULTS.md if all of
// them ran.
import { readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lastResult, measure, type RowResult, type Suite } from './harness.ts'

const folder = import.meta.dirname
const word = process.argv[2] ?? ''
const files = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.ts') && file.includes(word))
  .toSorted()

const micros = (value: number): string =>
  value < 1 ? value.toFixed(3) : value < 100 ? value.toFixed(2) : value.toFixed(0)

function describeRow({ row, figures }: RowResult): string {
  const [ours, ...peers] = figures
  const aim =
    row.aim === undefined ? '' : row.aim >= ours!.micros ? ` (target ${row.aim}: met)` : ` (target ${row.aim}: missed)`
  const against = peers
    .map((p) => `${p.name} ${micros(p.micros)} (${(p.micros / ours!.micros).toFixed(2)}×)`)
    .join(', ')
  const elapsed = row.async ? `, ${micros(ours!.elapsed)} elapsed` : ''
  return `| ${row.title} | ${micros(ours!.micros)}${aim}${elapsed} | ${against || '–'} | ${(ours!.spread * 100).toFixed(0)} % | ${row.note ?? ''} |`
}

const page: string[] = [
  '# Benchmark results',
  '',
  'Written by `npm run bench`. Figures are CPU microseconds per operation of warm code: the best of nine rounds, in which the contenders take',
  'turns. The factor of a peer is its time divided by ours; above 1, Kubewright is faster. The spread is the distance of the median round from the',
  'best one. Only the factors are comparable across machines.',
  '',
  `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), load ${loadavg()[0]!.toFixed(1)} at the start.`,
]
for (const file of files) {
  const { suite } = (await import(pathToFileURL(join(folder, file)).href)) as { suite: Suite }
  console.log(`\n${suite.title}`)
  page.push('', `## ${suite.title}`, '', suite.about)
  if (suite.report) {
    const lines = await suite.report()
    console.log(lines.join('\n'))
    page.push('', ...lines)
  }
  const rows = typeof suite.rows === 'function' ? await suite.rows() : (suite.rows ?? [])
  if (rows.length > 0) page.push('', '| work | kubewright | peers | spread | note |', '|---|---|---|---|---|')
  for (const row of rows) {
    const line = describeRow(await measure(row))
    console.log(line)
    page.push(line)
  }
}
if (word === '') {
  writeFileSync(join(folder, 'RESULTS.md'), `${page.join('\n')}\n`)
  console.log(`\nbench/RESULTS.md rewritten (${files.length} suites)`)
}
// Servers started by a suite keep the process alive, so it exits explicitly.
process.exit(lastResult() === Symbol.for('never') ? 1 : 0)
