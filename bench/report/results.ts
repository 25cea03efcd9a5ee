// The recorded results of all suites: bench/results.json, from which bench/RESULTS.md is written.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One number of a table. */
export interface ResultFigure {
  /** The text of the first cell of the row. */
  readonly row: string
  /** The heading of the column. */
  readonly column: string
  readonly value: number
  /** `ms`, `µs`, `MiB`, `/s`, … or empty. */
  readonly unit: string
  /** The distance of the median round from the best one, as a fraction, if the suite measured rounds. */
  readonly spread?: number
}

/** When, where and from which commit a suite was measured. */
export interface Measured {
  readonly date: string
  /** The short commit id, with `+` if the tree had changes. */
  readonly commit: string
  readonly machine: string
}

/** The results of one suite. */
export interface SuiteResult {
  readonly title: string
  readonly about: string
  readonly measured: Measured
  /** The Markdown of the tables. */
  readonly lines: readonly string[]
  readonly figures: readonly ResultFigure[]
}

/** Results by the name of the suite: `server` for `server.bench.ts`. */
export type Results = Readonly<Record<string, SuiteResult>>

/** Reads the results in a folder or a JSON file. Returns no results if the file does not exist. */
export function readResults(path: string): Results {
  const file = path.endsWith('.json') ? path : join(path, 'results.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
}

/** Replaces the results. An interrupted process leaves either the old or the new file. */
export function writeResults(folder: string, results: Results): void {
  const sorted = Object.fromEntries(Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  replaceFile(join(folder, 'results.json'), `${JSON.stringify(sorted, undefined, 1)}\n`)
}

export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

const number = /^(\d[\d,]*(?:\.\d+)?)\s?(ms|us|µs|s|MiB|KiB|%|\/s|×)?(?=$|[\s(,])/

/**
 * Returns the numbers of Markdown tables: of each cell the first number with its unit. The first factor of a row, such as
 * `(2.5×)` in the cell of a peer, becomes a figure of the column `factor`.
 */
export function figuresOf(lines: readonly string[]): ResultFigure[] {
  const figures: ResultFigure[] = []
  let heads: readonly string[] | undefined
  for (const line of lines) {
    if (!line.startsWith('|')) {
      heads = undefined
      continue
    }
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (heads === undefined) heads = cells
    else if (!/^[|:\- ]+$/.test(line)) {
      for (const [index, cell] of cells.entries()) {
        const found = index === 0 ? null : number.exec(cell)
        if (!found) continue
        const value = Number(found[1]!.replaceAll(',', ''))
        const unit = found[2] === 'us' ? 'µs' : (found[2] ?? '')
        figures.push({ row: cells[0]!, column: heads[index] ?? '', value, unit })
      }
      const factor = /\((\d[\d.]*)×/.exec(cells.slice(1).join(' '))
      if (factor) figures.push({ row: cells[0]!, column: 'factor', value: Number(factor[1]), unit: '×' })
    }
  }
  return figures
}
