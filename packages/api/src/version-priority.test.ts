import { expect, test } from 'vitest'
import * as api from './index.ts'

test('compareVersionPriority() puts stable versions first, then beta, alpha and the rest', () => {
  const versions = ['v1', 'v10beta3', 'v2', 'foo10', 'v11alpha2', 'v12alpha1', 'foo1', 'v10', 'v3beta1', 'v11beta2']
  expect(versions.sort(api.compareVersionPriority)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ])
})
