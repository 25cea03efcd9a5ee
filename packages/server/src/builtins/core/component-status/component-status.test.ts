import { describe, expect, it } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { componentStatuses } from './component-status.ts'

describe('component statuses', () => {
  it('list the result of the health check in table columns', () => {
    expect(
      cellsOf(componentStatuses, { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] }),
    ).toEqual(['x', 'Unhealthy', 'm', 'e'])
  })
})
