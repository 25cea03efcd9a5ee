import { type FieldError, FieldPath } from '@kubewright/schema'
import { expect, test } from 'vitest'
import { validateTopologySpread } from './validate-scheduling.ts'

test('validateTopologySpread() reports every constraint that a later one repeats', () => {
  const errors: FieldError[] = []
  const constraint = (topologyKey: string) => ({ topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' })
  validateTopologySpread(['a', 'b', 'a', 'a', 'c'].map(constraint), FieldPath.of('s'), errors)
  expect(errors.map(({ type, field }) => `${type} ${field}`)).toEqual([
    'FieldValueDuplicate s[0].{topologyKey, whenUnsatisfiable}',
    'FieldValueDuplicate s[2].{topologyKey, whenUnsatisfiable}',
  ])
})
