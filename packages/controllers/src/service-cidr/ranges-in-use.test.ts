import type { IPAddress, ServiceCIDR } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { isInUse } from './ranges-in-use.ts'

const range = (name: string, ...cidrs: string[]): ServiceCIDR =>
  ({ metadata: { name }, spec: { cidrs } }) as unknown as ServiceCIDR
const address = (name: string, manager = 'ipallocator.k8s.io'): IPAddress =>
  ({ metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': manager } } }) as unknown as IPAddress

test('isInUse() is true when an address of a Service has no other range', () => {
  const own = range('own', '10.1.0.0/24')
  expect(isInUse(own, [own], [])).toBe(false)
  expect(isInUse(own, [own], [address('10.2.0.1')])).toBe(false)
  expect(isInUse(own, [own], [address('10.1.0.1', 'me')])).toBe(false)
  expect(isInUse(own, [own], [address('10.1.0.1')])).toBe(true)
})

test('isInUse() is false when other ranges contain the range or its addresses', () => {
  const own = range('own', '10.1.0.0/24')
  expect(isInUse(own, [own, range('large', '10.0.0.0/8')], [address('10.1.0.1')])).toBe(false)
  expect(isInUse(own, [own, range('part', '10.1.0.0/28')], [address('10.1.0.1')])).toBe(false)
  expect(isInUse(own, [own, range('part', '10.1.0.0/28')], [address('10.1.0.200')])).toBe(true)
})
