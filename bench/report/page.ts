import { type Aim, aimTable } from './aims.ts'
import type { Results } from './results.ts'

/** Returns the text of RESULTS.md. */
export function resultsPage(results: Results, aims: readonly Aim[]): string {
  const page = [
    '# Benchmark results',
    '',
    'Written by `npm run bench` from `results.json`; do not edit. Unless a section says otherwise, figures are CPU microseconds per operation of',
    'warm code: the best of nine rounds, in which the contenders take turns. The factor of a peer is its time divided by ours; above 1, Kubewright',
    'is faster. The spread is the distance of the median round from the best one. Only the factors are comparable across machines.',
    '',
    '## Targets',
    '',
    ...aimTable(aims, results),
  ]
  for (const { title, about, measured, lines } of Object.values(results)) {
    page.push('', `## ${title}`, '', about, '', ...lines, '')
    page.push(`Measured ${measured.date}, commit ${measured.commit}, ${measured.machine}.`)
  }
  return `${page.join('\n')}\n`
}
