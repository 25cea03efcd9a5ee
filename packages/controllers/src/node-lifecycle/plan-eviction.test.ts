import type { Taint, Toleration } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { staysFor } from './plan-eviction.ts'

const away = (key: string): Taint => ({ key, effect: 'NoExecute' })
const bears = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})

test('staysFor() is undefined without NoExecute taints, or when all are tolerated', () => {
  expect(staysFor(undefined, undefined)).toBeUndefined()
  expect(staysFor([{ key: 'a', effect: 'NoSchedule' }], [])).toBeUndefined()
  expect(staysFor([away('a')], [bears('a')])).toBeUndefined()
  expect(staysFor([away('a')], [{ operator: 'Exists' }])).toBeUndefined()
})

test('staysFor() is 0 when one taint is not tolerated', () => {
  expect(staysFor([away('a')], undefined)).toBe(0)
  expect(staysFor([away('a'), away('b')], [bears('a', 60)])).toBe(0)
})

test('staysFor() is the shortest of the matching tolerations', () => {
  expect(staysFor([away('a'), away('b')], [bears('a', 60), bears('b', 5), bears('c', 1)])).toBe(5000)
  expect(staysFor([away('a'), away('b')], [bears('a', 60), bears('b')])).toBe(60_000)
  expect(staysFor([away('a')], [bears('a', -1)])).toBe(0)
})
