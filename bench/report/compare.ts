// `npm run bench -- --compare BASE`: measures this tree and another in turn and reports regressions above noise.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ResultFigure, type Results, readResults } from './results.ts'

/** The columns of our figures. Others belong to peers or are elapsed times, which depend on the load of the machine. */
const ownColumns = new Set([
  'kubewright',
  'Kubewright',
  'CPU',
  'result',
  'memory',
  'peak memory',
  'memory of the process',
])
/** A difference below this fraction is never reported, however little the rounds differ. */
const least = 0.05

/** A figure of both trees, each the best of its rounds. */
export interface Difference {
  readonly suite: string
  readonly row: string
  readonly column: string
  readonly unit: string
  readonly base: number
  readonly head: number
  /** By which fraction the figure became worse; negative if it became better. */
  readonly worse: number
  /** The largest distance between rounds of one tree, as a fraction. */
  readonly noise: number
  readonly isRegression: boolean
}

const isRate = (unit: string): boolean => unit === '/s' || unit === '×'

interface Rounds {
  readonly figure: ResultFigure
  readonly values: number[]
  spread: number
}

function roundsOf(all: readonly Results[]): Map<string, Rounds> {
  const found = new Map<string, Rounds>()
  for (const results of all) {
    for (const [suite, { figures }] of Object.entries(results)) {
      for (const figure of figures) {
        if (!ownColumns.has(figure.column) || figure.value <= 0) continue
        const key = `${suite}\n${figure.row}\n${figure.column}\n${figure.unit}`
        const rounds = found.get(key) ?? { figure, values: [], spread: 0 }
        rounds.values.push(figure.value)
        rounds.spread = Math.max(rounds.spread, figure.spread ?? 0)
        found.set(key, rounds)
      }
    }
  }
  return found
}

/** Compares rounds of two trees. A figure that only one of them has is not compared. */
export function compareRounds(base: readonly Results[], head: readonly Results[]): Difference[] {
  const before = roundsOf(base)
  return [...roundsOf(head)].flatMap(([key, now]) => {
    const then = before.get(key)
    if (!then) return []
    const { row, column, unit } = now.figure
    const best = ({ values }: Rounds): number => (isRate(unit) ? Math.max(...values) : Math.min(...values))
    const noiseOf = ({ values, spread }: Rounds): number =>
      Math.max(spread, Math.max(...values) / Math.min(...values) - 1)
    const noise = Math.max(noiseOf(then), noiseOf(now))
    const worse = (isRate(unit) ? best(then) / best(now) : best(now) / best(then)) - 1
    const suite = key.slice(0, key.indexOf('\n'))
    const isRegression = worse > least + noise
    return [{ suite, row, column, unit, base: best(then), head: best(now), worse, noise, isRegression }]
  })
}

/** Returns the differences as a Markdown table, the worst first. */
export function differenceTable(differences: readonly Difference[]): string[] {
  const percent = (fraction: number): string => `${fraction > 0 ? '+' : ''}${(fraction * 100).toFixed(0)} %`
  const text = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en')
  return [
    '| suite | work | base | head | worse by | noise | |',
    '|---|---|--:|--:|--:|--:|---|',
    ...differences
      .toSorted((a, b) => b.worse - b.noise - (a.worse - a.noise))
      .map((one) => {
        const work = one.column === 'kubewright' ? one.row : `${one.row} (${one.column})`
        const figures = `${text(one.base)} ${one.unit} | ${text(one.head)} ${one.unit} | ${percent(one.worse)} | ${(one.noise * 100).toFixed(0)} %`
        return `| ${one.suite} | ${work} | ${figures} | ${one.isRegression ? '**regression**' : ''} |`
      }),
  ]
}

export interface CompareOptions {
  /** A commit, tag or branch; or a results.json of another run on this machine. */
  readonly base: string
  /** Words of the names of suites; empty: all suites. */
  readonly words: readonly string[]
  readonly rounds: number
}

/** Measures both trees in turn, prints the table and returns whether there is a regression. */
export function compareTrees(root: string, { base, words, rounds }: CompareOptions): boolean {
  const isFile = base.endsWith('.json')
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-compare-'))
  const tree = join(folder, 'base')
  try {
    if (!isFile) checkOut(root, base, tree)
    const [before, after]: [Results[], Results[]] = [isFile ? [readResults(base)] : [], []]
    for (let round = 0; round < rounds; round++) {
      if (!isFile) before.push(measureTree(tree, words, join(folder, `base-${round}.json`)))
      after.push(measureTree(root, words, join(folder, `head-${round}.json`)))
    }
    const differences = compareRounds(before, after)
    console.log(['', ...differenceTable(differences)].join('\n'))
    const regressions = differences.filter(({ isRegression }) => isRegression).length
    console.log(`\n${differences.length} figures compared with ${base}, ${regressions} regressions above noise`)
    if (differences.length === 0) throw new Error('The trees have no figure in common')
    return regressions > 0
  } finally {
    if (!isFile) spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: root, stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the suites of a tree in another process. A suite that fails is left out. */
function measureTree(tree: string, words: readonly string[], out: string): Results {
  const node = ['--expose-gc', '--conditions=kubewright-source', '--import', 'tsx']
  spawnSync(process.execPath, [...node, 'bench/run.ts', '--out', out, ...words], { cwd: tree, stdio: 'inherit' })
  return readResults(out)
}

/** Checks out a commit with the installed packages and the benchmarks of this tree, so that both run the same programs. */
function checkOut(root: string, commit: string, tree: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', tree, commit], { cwd: root, stdio: 'inherit' })
  linkModules(join(root, 'node_modules'), join(tree, 'node_modules'))
  rmSync(join(tree, 'bench'), { recursive: true })
  cpSync(join(root, 'bench'), join(tree, 'bench'), { recursive: true })
}

/** Links installed packages. Links to packages of the workspace are copied, so that they lead to the packages of the tree. */
function linkModules(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) {
    if (name.startsWith('.') && name !== '.bin') continue
    const [source, target] = [join(from, name), join(to, name)]
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (name === '@kubewright') linkModules(source, target)
    else symlinkSync(source, target)
  }
}
