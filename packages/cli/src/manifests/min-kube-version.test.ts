import { describe, expect, test } from 'vitest'
import { minKubeVersion } from './min-kube-version.ts'

const object = (spec: object) => ({ apiVersion: 'v1', kind: 'Any', metadata: { name: 'any' }, spec })

describe('minKubeVersion()', () => {
  test.each([
    ['1.25.0', {}],
    ['1.25.0', { 'x-kubernetes-validations': [{ rule: 'self > 1' }] }],
    ['1.27.0', { 'x-kubernetes-validations': [{ rule: 'self > 1', messageExpression: '"a"' }] }],
    ['1.29.0', { 'x-kubernetes-validations': [{ rule: 'quantity(self).isGreaterThan(quantity("1"))' }] }],
    ['1.28.0', { webhooks: [{ matchConditions: [] }] }],
    ['1.29.0', { initContainers: [{ restartPolicy: 'Always' }] }],
    ['1.30.0', { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', optionalOldSelf: true }] }],
    ['1.31.0', { 'x-kubernetes-validations': [{ rule: 'isIP(self)' }] }],
    ['1.31.0', { versions: [{ selectableFields: [] }] }],
    ['1.31.0', { a: { selectableFields: [] }, b: { messageExpression: '' } }],
  ])('is %s for objects with %j', (version, spec) => {
    expect(minKubeVersion([object(spec)])).toBe(version)
  })
})
