import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import type { ReflectorHealth } from '../cache/reflector/reflector-health.ts'
import { cacheCheck } from './cache-check.ts'

test('cacheCheck() names what is missing with the fix, and tolerates short failures of watches that worked', async () => {
  const clock = new VirtualClock()
  const health = new Map<string, ReflectorHealth>()
  const { check } = cacheCheck({ cache: { health }, clock })
  const ask = (): void | Promise<void> => check(new AbortController().signal)
  const set = (name: string, state: ReflectorHealth['state'], more: Partial<ReflectorHealth> = {}) =>
    health.set(name, { state, since: clock.now(), failures: 0, ...more })

  set('homes', 'starting')
  set('secrets', 'failing', { message: 'Cannot list secrets: forbidden', fix: 'Allow it' })
  set('optional', 'failing', { message: 'no such kind', missing: true })
  expect(ask).toThrow('homes has not been listed yet; Cannot list secrets: forbidden. Allow it')
  set('homes', 'watching')
  set('secrets', 'watching')
  expect(ask).not.toThrow()

  set('secrets', 'failing', { message: 'Cannot watch secrets: connection refused' })
  await clock.advance(29_999)
  expect(ask).not.toThrow()
  await clock.advance(1)
  expect(ask).toThrow('Cannot watch secrets: connection refused')
  set('secrets', 'watching')
  expect(ask).not.toThrow()
})
