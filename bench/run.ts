// `npm run bench [-- OPTIONS] [WORD…]`: runs the suites of bench/ whose file name contains a word, and records each in
// results.json and RESULTS.md when it ends. bench/README.md describes the options.
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { aims } from './aims.ts'
import { type Figure, lastResult, measure, type RowResult, type Suite } from './harness.ts'
import { compareTrees } from './report/compare.ts'
import { resultsPage } from './report/page.ts'
import {
  figuresOf,
  type Measured,
  type ResultFigure,
  readResults,
  replaceFile,
  type SuiteResult,
  writeResults,
} from './report/results.ts'

const folder = import.meta.dirname
const root = join(folder, '..')
const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    compare: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    out: { type: 'string' },
    print: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
})

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

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function measuredNow(): Measured {
  const changed = git('status', '--porcelain', '--', 'packages') === '' ? '' : '+'
  const machine = `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), load ${loadavg()[0]!.toFixed(1)} at the start`
  return { date: new Date().toISOString().slice(0, 10), commit: git('rev-parse', '--short', 'HEAD') + changed, machine }
}

async function runSuite(file: string): Promise<SuiteResult> {
  const { suite } = (await import(pathToFileURL(join(folder, file)).href)) as { suite: Suite }
  const measured = measuredNow()
  console.log(`\n${suite.title}`)
  const lines: string[] = []
  if (suite.report) {
    lines.push(...(await suite.report()))
    console.log(lines.join('\n'))
  }
  const figures: ResultFigure[] = figuresOf(lines)
  const rows = typeof suite.rows === 'function' ? await suite.rows() : (suite.rows ?? [])
  if (rows.length > 0) {
    if (lines.length > 0) lines.push('')
    lines.push('| work | kubewright | peers | spread | note |', '|---|---|---|---|---|')
  }
  for (const row of rows) {
    const result = await measure(row)
    const line = describeRow(result)
    console.log(line)
    lines.push(line)
    const [{ micros: value, spread }, peer] = result.figures as [Figure, Figure?]
    if (peer)
      figures.push({ row: row.title, column: 'factor', value: Number((peer.micros / value).toFixed(2)), unit: '×' })
    figures.push({
      row: row.title,
      column: 'kubewright',
      value: Number(value.toPrecision(4)),
      unit: 'µs',
      spread: Number(spread.toFixed(3)),
    })
  }
  return { title: suite.title, about: suite.about, measured, lines, figures }
}

/** Runs the chosen suites. Returns the number of suites that failed. */
async function runSuites(): Promise<number> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.bench.ts') && (words.length === 0 || words.some((word) => file.includes(word))))
    .toSorted()
  const results: Record<string, SuiteResult> = {}
  let failed = 0
  for (const file of files) {
    const name = file.replace('.bench.ts', '')
    try {
      results[name] = await runSuite(file)
    } catch (error) {
      failed++
      console.error(`${file} failed; its recorded results stay:`, error)
      continue
    }
    if (options.out !== undefined) writeFileSync(options.out, JSON.stringify(results))
    // Read again: another process may have recorded a suite in the meantime.
    else if (!options.print) record({ ...readResults(folder), [name]: results[name]! })
  }
  if (!options.print && options.out === undefined) {
    console.log(`\nbench/results.json and bench/RESULTS.md: ${files.length - failed} suites recorded`)
  }
  return failed
}

function record(results: Readonly<Record<string, SuiteResult>>): void {
  writeResults(folder, results)
  writePage()
}

function writePage(): void {
  replaceFile(join(folder, 'RESULTS.md'), resultsPage(readResults(folder), aims))
}

let isFailed = false
if (options.page) writePage()
else if (options.compare === undefined) isFailed = (await runSuites()) > 0
else isFailed = compareTrees(root, { base: options.compare, words, rounds: Number(options.rounds) })
// Servers started by a suite keep the process alive, so it exits explicitly.
process.exit(isFailed || lastResult() === Symbol.for('never') ? 1 : 0)
