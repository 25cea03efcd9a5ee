import { describe, expect, test } from 'vitest'
import { ProcessClock } from './process-clock.ts'
import { VirtualClock } from './virtual-clock.ts'

describe('ProcessClock', () => {
  const start = () => {
    const world = new VirtualClock({ start: 0 })
    const clock = new ProcessClock(world)
    const ran: string[] = []
    const plan = (name: string, delay: number) => clock.setTimer(delay, () => ran.push(`${name} at ${clock.now()}`))
    return { world, clock, ran, plan }
  }

  test('follows the other clock, with a skew of its wall time', async () => {
    const { world, clock, ran, plan } = start()
    clock.setSkew(-500)
    plan('a', 1000)
    plan('b', 2000).cancel()
    await world.advance('3s')
    expect(ran).toEqual(['a at 500'])
    expect([clock.now(), clock.monotonic()]).toEqual([2500, 3000])
  })

  test('pause() holds due timers back until resume(), in order', async () => {
    const { world, clock, ran, plan } = start()
    plan('b', 2000)
    plan('a', 1000)
    const cancelled = plan('c', 1500)
    plan('later', 9000)
    clock.pause()
    await world.advance('5s')
    expect(ran).toEqual([])
    cancelled.cancel()
    clock.resume()
    await world.advance(0)
    expect(ran).toEqual(['a at 5000', 'b at 5000'])
    await world.advance('5s')
    expect(ran.at(-1)).toBe('later at 9000')
  })

  test('kill() cancels pending and later timers', async () => {
    const { world, clock, ran, plan } = start()
    plan('a', 1000)
    clock.kill()
    plan('b', 1000)
    await world.advance('5s')
    expect(ran).toEqual([])
    expect(world.pending).toEqual([])
  })
})
