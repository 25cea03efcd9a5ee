import { expect, test } from 'vitest'
import { sortSlicePorts } from './port-order.ts'

test('sortSlicePorts() has the order of kube-controller-manager v1.35', () => {
  const ports = [
    { name: 'web', port: 80 },
    { name: 'm', port: 90, appProtocol: 'grpc' },
    { name: 'a', port: 1, protocol: 'UDP' as const },
    { name: 'b', port: 2 },
    { name: 'c', port: 3, protocol: 'SCTP' as const },
    { name: 'dd', port: 4, appProtocol: 'kubernetes.io/h2c' },
    { name: 'e', port: 5 },
    { name: 'f', port: 6 },
  ]
  // Recorded from kube-controller-manager.
  expect(sortSlicePorts(ports).map(({ name }) => name)).toEqual(['a', 'dd', 'm', 'web', 'c', 'e', 'f', 'b'])
})
