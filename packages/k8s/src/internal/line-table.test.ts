import { describe, expect, test } from 'vitest'
import { lineChanges, lineTable } from './line-table.ts'

const base = '\nPod spec status\nName=string\nEmpty\n'

describe('lineTable()', () => {
  test('reads lines by their first word', () => {
    expect([...lineTable(base)]).toEqual([
      ['Pod', 'Pod spec status'],
      ['Name', 'Name=string'],
      ['Empty', 'Empty'],
    ])
  })

  test('replaces, adds and removes entries', () => {
    expect([...lineTable(base, 'Pod spec\n-Name\nNode spec').values()]).toEqual(['Pod spec', 'Empty', 'Node spec'])
  })
})

test('lineChanges() states what lineTable() needs to make the other table', () => {
  const text = 'Pod spec\nEmpty\nNode spec'
  const changes = lineChanges(base, text)
  expect(changes).toBe('-Name\nPod spec\nNode spec')
  expect(lineTable(base, changes)).toEqual(lineTable(text))
  expect(lineChanges(base, base)).toBe('')
})
