import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { roleBindings } from './role-binding.ts'

describe('role bindings', () => {
  test('show the role and its subjects', () => {
    expect(
      cellsOf(roleBindings, {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u1' },
          { kind: 'User', name: 'u2' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      }),
    ).toEqual(['x', 'Role/r', '60m', 'u1, u2', '', 'n/s'])
  })
})
