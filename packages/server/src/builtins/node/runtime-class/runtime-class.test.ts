import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { runtimeClasses } from './runtime-class.ts'

const { createErrors } = strategyHarness(runtimeClasses)

const runtime = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'n' }, handler: 'runc' }

describe('runtime classes', () => {
  test('require a handler', async () => {
    expect(await createErrors({ ...runtime, handler: '' })).toEqual([
      expect.stringMatching(/^handler: Invalid value: "": /) as unknown as string,
    ])
  })

  test('accept finalizers without a domain', () => {
    expect(runtimeClasses.strategy?.anyFinalizer).toBe(true)
  })

  test('show the handler', () => {
    expect(cellsOf(runtimeClasses, { handler: 'h' })).toEqual(['x', 'h', '60m'])
  })
})
