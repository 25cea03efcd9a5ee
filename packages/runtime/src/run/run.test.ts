import { afterEach, describe, expect, it } from 'vitest'
import { defineOperator } from '../define/define-operator.ts'
import { run, runHookSymbol } from './run.ts'

const shared = globalThis as { [runHookSymbol]?: unknown }

describe('run()', () => {
  afterEach(() => {
    delete shared[runHookSymbol]
  })

  it('hands the operator to whoever loads the program, and ends when they say so', async () => {
    const operator = defineOperator({ name: 'homes', controllers: [] })
    const given: unknown[] = []
    shared[runHookSymbol] = async (...args: unknown[]) => void given.push(...args)
    await run(operator, { requestDetails: true })
    expect(given).toEqual([operator, { requestDetails: true }])
  })

  it('finds the hook under a name that every copy of the package knows', () => {
    expect(runHookSymbol).toBe(Symbol.for('kubewright.run'))
  })
})
