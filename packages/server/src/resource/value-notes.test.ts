import { expect, test } from 'vitest'
import { ValueNotes } from './value-notes.ts'

test('ValueNotes keeps facts about a value, and changes nothing that others see of it', () => {
  const value = new TextEncoder().encode('{}')
  const other = new TextEncoder().encode('{}')
  expect([ValueNotes.objectOf(value), ValueNotes.isReadable(value)]).toEqual([undefined, false])
  const object = {}
  ValueNotes.setObject(value, object)
  expect([ValueNotes.objectOf(value), ValueNotes.isReadable(value)]).toEqual([object, false])
  ValueNotes.markReadable(value)
  expect([ValueNotes.objectOf(value), ValueNotes.isReadable(value)]).toEqual([object, true])
  expect([ValueNotes.objectOf(other), ValueNotes.isReadable(other)]).toEqual([undefined, false])
  expect([Reflect.ownKeys(value), value instanceof Uint8Array]).toEqual([['0', '1'], true])
  expect(value).toEqual(other)
})
