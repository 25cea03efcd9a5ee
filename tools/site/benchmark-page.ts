import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from './page.ts'

/** Returns the page of the benchmark results, whose source is `bench/RESULTS.md`. */
export function benchmarkPage(root: string): Page {
  const text = readFileSync(join(root, 'bench/RESULTS.md'), 'utf8').replaceAll('](../docs/', '](../')
  const description = 'Measurements of Kubewright against named peers, and the targets of the project.'
  return {
    path: 'reference/benchmarks.md',
    language: 'en',
    title: 'Benchmark results',
    description,
    text,
    offset: 0,
    fields: {},
    isGenerated: true,
  }
}
