import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { limitRequests } from './limit-requests.ts'

test('limitRequests() sends a burst at once, and then the given number per second', async () => {
  const clock = new VirtualClock()
  const around = limitRequests({ qps: 2, burst: 3 }, clock)
  const start = clock.now()
  const sent: number[] = []
  const request = { method: 'GET', path: '/' } as never
  const all = Promise.all(Array.from({ length: 6 }, () => around(request, async () => sent.push(clock.now() - start))))
  await clock.advance('10s')
  await all
  expect(sent).toEqual([0, 0, 0, 500, 1000, 1500])
})
