import type { CaseResult } from './run-cases.ts'

/** The number of passed cases of an area. */
export interface AreaCount {
  readonly area: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The counts by area, sorted by name. */
export function countByArea(results: readonly Pick<CaseResult, 'area' | 'outcome'>[]): AreaCount[] {
  return [...new Set(results.map(({ area }) => area))].sort().map((area) => {
    const count = (outcome: CaseResult['outcome']): number =>
      results.filter((result) => result.area === area && result.outcome === outcome).length
    return { area, passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  })
}

/** Formats the counts for a terminal. */
export function areaTable(results: readonly Pick<CaseResult, 'area' | 'outcome'>[]): string {
  return countByArea(results)
    .map(({ area, passed, failed, skipped }) => {
      const numbers = `${String(passed).padStart(4)} passed ${String(failed).padStart(4)} failed`
      return `${area.padEnd(24)}${numbers}${skipped > 0 ? ` ${String(skipped).padStart(4)} skipped` : ''}`
    })
    .join('\n')
}
