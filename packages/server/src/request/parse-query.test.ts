import { describe, expect, test } from 'vitest'
import { parseQuery } from './parse-query.ts'

describe('parseQuery()', () => {
  test('drops pairs with invalid escapes or semicolons and keeps the others', () => {
    expect([...parseQuery('a=%zz&b=1;c=2&d=%2Fx+y&e&f=%')]).toEqual([
      ['d', '/x y'],
      ['e', ''],
    ])
  })

  test('parses queries without escapes', () => {
    expect([...parseQuery('watch=1&dryRun=All')]).toEqual([
      ['watch', '1'],
      ['dryRun', 'All'],
    ])
    expect([...parseQuery('')]).toEqual([])
  })
})
