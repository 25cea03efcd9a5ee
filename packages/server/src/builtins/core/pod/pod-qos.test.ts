import { expect, test } from 'vitest'
import { podQosClass } from './pod-qos.ts'
import type { PodSpec } from './pod-types.ts'

const all = { cpu: '1', memory: '1Gi' }

test.each<[string, PodSpec, string]>([
  ['no resources', { containers: [{}] }, 'BestEffort'],
  ['requests of zero', { containers: [{ resources: { requests: { cpu: '0' } } }] }, 'BestEffort'],
  ['limits that are the requests', { containers: [{ resources: { requests: all, limits: all } }] }, 'Guaranteed'],
  ['a container without limits', { containers: [{ resources: { requests: all, limits: all } }, {}] }, 'Burstable'],
  ['requests below limits', { containers: [{ resources: { requests: { cpu: '1' }, limits: all } }] }, 'Burstable'],
  ['other resources only', { containers: [{ resources: { requests: { 'a.b/c': '1' } } }] }, 'BestEffort'],
  ['resources of the pod', { resources: { requests: all, limits: all }, containers: [{}] }, 'Guaranteed'],
])('podQosClass() with %s is %s', (_, spec, expected) => {
  expect(podQosClass(spec)).toBe(expected)
})
