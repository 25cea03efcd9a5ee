import { describe, expect, test } from 'vitest'
import { grafanaDashboard } from './grafana-dashboard.ts'
import { knownMetrics, metricsIn } from './testdata/known-metrics.ts'

describe('grafanaDashboard()', () => {
  const { panels } = JSON.parse(grafanaDashboard('home')) as {
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number }; targets?: { expr: string }[] }[]
  }

  test('uses only metrics of operators', () => {
    const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr))))
    expect([...shown].filter((name) => !knownMetrics.has(name))).toEqual([])
    expect(shown.size).toBeGreaterThan(15)
  })

  test('places panels without overlap', () => {
    const taken = new Set<string>()
    for (const { gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x},${y}`)).toBe(false)
          taken.add(`${x},${y}`)
        }
      }
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })
})
