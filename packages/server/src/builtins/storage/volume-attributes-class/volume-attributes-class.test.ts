import { describe, expect, it } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { volumeAttributesClasses } from './volume-attributes-class.ts'

describe('volume attributes classes', () => {
  it('show the driver', () => {
    expect(cellsOf(volumeAttributesClasses, { driverName: 'd' })).toEqual(['x', 'd', '60m'])
  })
})
