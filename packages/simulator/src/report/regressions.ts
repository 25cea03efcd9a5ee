import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { SimulationFailure } from './simulation-report.ts'

interface Regression {
  readonly id: string
  readonly oracle: string
  readonly message: string
}

/** The IDs of the failing schedules in a file; none if it does not exist. */
export function readRegressions(file: string): string[] {
  return load(file).map(({ id }) => id)
}

/** Adds a failing schedule to the file, unless it contains it. */
export function addRegression(file: string, { id, violation }: SimulationFailure): void {
  const known = load(file)
  if (known.some((one) => one.id === id)) return
  const all: Regression[] = [...known, { id, oracle: violation.oracle, message: violation.message }]
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
}

function load(file: string): Regression[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Regression[]) : []
}
