import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programVersion } from '../bench/program-version.ts'
import { aimTable } from '../bench/report/aims.ts'
import { compareRounds, differenceTable } from '../bench/report/compare.ts'
import { curve } from '../bench/report/curve.ts'
import { figuresOf, type Results } from '../bench/report/results.ts'

const measured = { date: '2026-01-01', commit: 'abc', machine: 'a machine' }
const resultsOf = (...lines: string[]): Results => ({
  one: { title: 'One', about: '', measured, lines, figures: figuresOf(lines) },
})
const table = ['| work | CPU | rate | peer |', '|---|--:|---|---|']

test('figuresOf() reads the first number of each cell, its unit and the factor of the row', () => {
  expect(figuresOf([...table, '| get, 1 client | 1,250 us (target 20: missed) | 331/s | 3 ms (2.4×) |'])).toEqual([
    { row: 'get, 1 client', column: 'CPU', value: 1250, unit: 'µs' },
    { row: 'get, 1 client', column: 'rate', value: 331, unit: '/s' },
    { row: 'get, 1 client', column: 'peer', value: 3, unit: 'ms' },
    { row: 'get, 1 client', column: 'factor', value: 2.4, unit: '×' },
  ])
})

test('figuresOf() skips cells without a leading number', () => {
  expect(figuresOf([...table, '| get | – | about 5 ms | 4 to 10 s |', 'text | 1 | 2 |'])).toEqual([
    { row: 'get', column: 'peer', value: 4, unit: '' },
  ])
})

test('aimTable() converts units and reports targets as met, missed or not measured', () => {
  const results = resultsOf(...table, '| get | 0.15 ms | 900/s | – |')
  const get = { suite: 'one', row: 'get' }
  const lines = aimTable(
    [
      { ...get, title: 'a', column: 'CPU', unit: 'µs', atMost: 150, missing: 'unused' },
      { ...get, title: 'b', column: 'rate', unit: '/s', atLeast: 1000, missing: 'Too slow.' },
      { ...get, title: 'c', suite: 'two', column: 'CPU', unit: 'ms', atMost: 1 },
      { ...get, title: 'd', column: 'CPU', unit: 'MiB', atMost: 1 },
    ],
    results,
  )
  expect(lines.slice(2)).toEqual([
    '| a | ≤ 150 µs | 150 µs | met | One |',
    '| b | ≥ 1,000/s | 900/s | **missed** | One |',
    '| c | ≤ 1 ms | – | not measured | two.bench.ts |',
    '| d | ≤ 1 MiB | – | not measured | One |',
    '',
    '### Missed targets',
    '',
    '- **b**: Too slow.',
  ])
})

const round = (cpu: number, result: number): Results =>
  resultsOf('| work | CPU | result | elapsed |', '|---|---|---|---|', `| get | ${cpu} ms | ${result}/s | ${cpu} ms |`)

test('compareRounds() reports a figure that became worse by more than the noise', () => {
  const found = compareRounds([round(100, 50), round(104, 52)], [round(130, 50), round(126, 49)])
  expect(found.map(({ column, isRegression }) => [column, isRegression])).toEqual([
    ['CPU', true],
    ['result', false],
  ])
  expect(differenceTable(found)[2]).toBe('| one | get (CPU) | 100 ms | 126 ms | +26 % | 4 % | **regression** |')
})

test('compareRounds() reports a lower rate, and no difference within the noise of either tree', () => {
  const found = compareRounds([round(100, 50), round(101, 50)], [round(110, 40), round(130, 41)])
  expect(found.map(({ column, isRegression }) => [column, isRegression])).toEqual([
    ['CPU', false],
    ['result', true],
  ])
})

test('compareRounds() includes the spread within a suite in the noise', () => {
  const withSpread = (value: number): Results => ({
    one: { ...round(1, 1)['one']!, figures: [{ row: 'a', column: 'kubewright', value, unit: 'µs', spread: 0.3 }] },
  })
  expect(compareRounds([withSpread(1)], [withSpread(1.3)])[0]?.isRegression).toBe(false)
  expect(compareRounds([withSpread(1)], [withSpread(1.4)])[0]?.isRegression).toBe(true)
})

test('curve() draws linear growth as a straight line, escapes texts and returns the line of Markdown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-curve-'))
  try {
    const points = [
      [10, 1],
      [100, 10],
      [1000, 100],
    ] as const
    const options = { name: 'n', title: 'a < b', x: 'pods', y: 'MiB', series: [{ name: 'one', points }] }
    expect(curve(options, folder)).toBe('![a < b](../docs/pictures/curves/n.svg)')
    const svg = readFileSync(join(folder, 'n.svg'), 'utf8')
    expect(svg).toContain('<title>a &#60; b</title>')
    expect(svg).toContain('d="M72 348L316 196L560 44"')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('programVersion() returns the version that a program prints, and undefined without the program', () => {
  expect(programVersion(process.execPath)).toBe(process.version)
  expect(programVersion('no-such-program')).toBeUndefined()
})

test('peakMiB() does not include the memory of the process that started this one', () => {
  const ballast = Buffer.alloc(300 << 20, 1)
  const file = join(import.meta.dirname, '../bench/peak-memory.ts')
  const script = `import { peakMiB } from ${JSON.stringify(file)}; console.log(peakMiB())`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  expect(Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toBeLessThan(ballast.length >> 20)
})
