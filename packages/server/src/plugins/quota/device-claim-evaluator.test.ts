import { expect, test } from 'vitest'
import type { MutableObject } from '../../resource/object.ts'
import { deviceClaimEvaluator } from './device-claim-evaluator.ts'

const request = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count })
function usage(...requests: object[]): Record<string, string> {
  const claim = { metadata: { name: 'c' }, spec: { devices: { requests } } } as unknown as MutableObject
  return Object.fromEntries(
    [...deviceClaimEvaluator.usage(claim, 0)].map(([name, amount]) => [name, amount.toString()]),
  )
}

test('deviceClaimEvaluator counts claims, and devices by class', () => {
  expect(usage()).toEqual({ 'count/resourceclaims.resource.k8s.io': '1' })
  expect(usage({ exactly: request('gpu', 2) }, { exactly: request('gpu', 1) })).toEqual({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '3',
  })
})

test('deviceClaimEvaluator counts the largest alternative of each class, and 32 devices for all', () => {
  const all = { deviceClassName: 'nic', allocationMode: 'All' }
  expect(usage({ firstAvailable: [request('gpu', 1), request('gpu', 4), all] })).toEqual({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': '4',
    'nic.deviceclass.resource.k8s.io/devices': '32',
  })
})

test('deviceClaimEvaluator covers the counts of claims and of devices by class', () => {
  const { covers } = deviceClaimEvaluator
  expect(covers('count/resourceclaims.resource.k8s.io')).toBe(true)
  expect(covers('gpu.deviceclass.resource.k8s.io/devices')).toBe(true)
  expect(covers('requests.cpu')).toBe(false)
})
