import { expect, it } from 'vitest'
import { soakWorkers } from './soak-workers.ts'

it('a server with workers loses no write and no event while its processes are killed', {
  timeout: 180_000,
}, async () => {
  const report = await soakWorkers({ seed: 'test', workers: 2, millis: 12_000, killMillis: 2500 })
  expect(report.mistakes).toEqual([])
  // How much happens in this time depends on the load of the machine.
  expect(report.acknowledged).toBeGreaterThan(0)
  expect(report.events).toBeGreaterThan(0)
  expect(report.killedWorkers + report.killedMains).toBeGreaterThan(0)
})
