import { afterEach, describe, expect, test } from 'vitest'
import { defineOperator } from '../define/define-operator.ts'
import { run, runHookSymbol } from './run.ts'

const shared = globalThis as { [runHookSymbol]?: unknown }

describe('run()', () => {
  afterEach(() => {
    delete shared[runHookSymbol]
  })

  test('passes the operator to a hook, and resolves with it', async () => {
    const operator = defineOperator({ name: 'homes', controllers: [] })
    const given: unknown[] = []
    shared[runHookSymbol] = async (...args: unknown[]) => void given.push(...args)
    await run(operator, { requestDetails: true })
    expect(given).toEqual([operator, { requestDetails: true }])
  })

  test('uses a hook symbol that all copies of the package share', () => {
    expect(runHookSymbol).toBe(Symbol.for('kubewright.run'))
  })
})
