import { expect, test } from 'vitest'
import { assertRoomForPod, maxPods } from './pod-budget.ts'

const withPods = (size: number) => ({ cache: { peek: () => ({ size }) } }) as never

test('assertRoomForPod() throws when the cluster has as many pods as the process can hold', () => {
  expect(() => assertRoomForPod(withPods(9), 10)).not.toThrow()
  expect(() => assertRoomForPod(withPods(10), 10)).toThrow('the control plane has 10 pods and creates no more than 10')
  expect(maxPods).toBeGreaterThan(10_000)
})
