import { expect, test } from 'vitest'
import { onAbort } from './on-abort.ts'
import { drainMicrotasks } from './system-clock.ts'
import { VirtualClock } from './virtual-clock.ts'

test('onAbort() calls the listener once, and not after removal', () => {
  const controller = new AbortController()
  const calls: string[] = []
  onAbort(controller.signal, () => calls.push('kept'))
  onAbort(controller.signal, () => calls.push('taken off'))()
  controller.abort()
  controller.abort()
  expect(calls).toEqual(['kept'])
})

test('onAbort() calls the listener immediately if already aborted, and never without a signal', () => {
  let calls = 0
  onAbort(AbortSignal.abort(), () => calls++)()
  onAbort(undefined, () => calls++)()
  expect(calls).toBe(1)
})

test('onAbort() allows many listeners on one signal without a warning', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  const controller = new AbortController()
  const clock = new VirtualClock()
  const sleeps = Array.from({ length: 50 }, () => clock.sleep(1, { signal: controller.signal }))
  await clock.advance(1)
  await Promise.all(sleeps)
  await drainMicrotasks()
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
