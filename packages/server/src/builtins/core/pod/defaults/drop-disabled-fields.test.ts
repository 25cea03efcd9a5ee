import { expect, test } from 'vitest'
import type { MutableObject } from '../../../../resource/object.ts'
import type { StrategyContext } from '../../../../resource/strategy.ts'
import type { PodSpec } from '../pod-types.ts'
import { withoutDisabledFields } from './drop-disabled-fields.ts'

const context = {} as StrategyContext

function specWithDisabledFields(): PodSpec {
  return {
    workloadRef: { name: 'w' },
    containers: [
      { lifecycle: { stopSignal: 'SIGTERM' } },
      { lifecycle: { stopSignal: 'SIGTERM', preStop: { sleep: { seconds: 1 } } } },
    ],
    volumes: [{ projected: { sources: [{ clusterTrustBundle: { path: 'p' } }] } }],
  }
}

test('withoutDisabledFields() drops fields whose feature gate is off from creates and updates', () => {
  const prepared: string[] = []
  const strategy = withoutDisabledFields({
    prepareForCreate: () => prepared.push('create'),
    prepareForUpdate: () => prepared.push('update'),
  })
  for (const write of ['create', 'update'] as const) {
    const spec = specWithDisabledFields()
    const object = { metadata: {}, spec: { template: { spec } } } as unknown as MutableObject
    if (write === 'create') strategy.prepareForCreate?.(object, context)
    else strategy.prepareForUpdate?.(object, object, context)
    expect(spec).toEqual({
      containers: [{}, { lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
      volumes: [{ projected: { sources: [{}] } }],
    })
  }
  expect(prepared).toEqual(['create', 'update'])
})

test('withoutDisabledFields() accepts objects without a template', () => {
  const strategy = withoutDisabledFields({})
  strategy.prepareForCreate?.({ metadata: {} } as MutableObject, context)
})
