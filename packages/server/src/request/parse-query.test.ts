import { describe, expect, test } from 'vitest'
import { parseQuery } from './parse-query.ts'

describe('parseQuery', () => {
  test('drops pairs that Go cannot read and keeps the others', () => {
    expect([...parseQuery('a=%zz&b=1;c=2&d=%2Fx+y&e&f=%')]).toEqual([
      ['d', '/x y'],
      ['e', ''],
    ])
  })

  test('reads plain queries', () => {
    expect([...parseQuery('watch=1&dryRun=All')]).toEqual([
      ['watch', '1'],
      ['dryRun', 'All'],
    ])
    expect([...parseQuery('')]).toEqual([])
  })
})
