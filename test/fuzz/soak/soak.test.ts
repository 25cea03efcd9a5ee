import { expect, it } from 'vitest'
import { soakWorkers } from './soak-workers.ts'

it('a server with workers loses no write and no event while its processes are killed', {
  timeout: 180_000,
}, async () => {
  const report = await soakWorkers({ seed: 'test', workers: 2, millis: 12_000, killMillis: 2500 })
  expect(report.mistakes).toEqual([])
  expect(report.acknowledged).toBeGreaterThan(20)
  expect(report.events).toBeGreaterThan(20)
  expect(report.killedWorkers + report.killedMains).toBeGreaterThan(1)
})
