import { systemClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { Recording } from '../recording/recording.ts'
import type { ChangesUpdate } from '../wire/messages.ts'
import { ChangesFeed } from './changes-feed.ts'
import type { FeedContext } from './feed.ts'

const resource = { group: '', version: 'v1', plural: 'configmaps' }

function prepare() {
  const recording = new Recording({ startedAt: 0 })
  let calls = 0
  const context: FeedContext = {
    cluster: {
      kinds: { kinds: [], problem: undefined, listen: () => ({ [Symbol.dispose]: () => undefined }) },
      follow() {},
    },
    clock: systemClock,
    recording,
    readOperators: async () => [],
    changed: () => calls++,
  }
  const add = (name: string, value: number, isBase = false): void =>
    recording.add(
      { resource, uid: name, name, namespace: 'default' },
      {
        text: JSON.stringify({ metadata: { name }, data: { value } }),
        row: { uid: name, name, created: '', cells: [] },
      },
      value,
      { isBase },
    )
  return { recording, context, add, calls: () => calls }
}

const seen = (update: ChangesUpdate | undefined): string[] | undefined =>
  update?.changes.map(({ number, object }) => `${number} ${object.name}`)

test('ChangesFeed.take() sends the last changes once, then only new ones', () => {
  const { context, add } = prepare()
  for (let value = 1; value <= 4; value++) add('a', value)
  using feed = new ChangesFeed({ type: 'changes', limit: 3 }, context)
  const first = feed.take()
  expect(first).toMatchObject({ reset: true, limit: 3 })
  expect(seen(first)).toEqual(['4 a', '3 a', '2 a'])
  expect(feed.take()).toBeUndefined()
  add('b', 5)
  add('b', 6)
  const next = feed.take()
  expect(next?.reset).toBe(false)
  expect(seen(next)).toEqual(['6 b', '5 b'])
})

test('ChangesFeed.take() of a history begins with the state before the recording and ignores other objects', () => {
  const { context, add, calls } = prepare()
  add('a', 1, true)
  add('b', 2)
  add('a', 3)
  using feed = new ChangesFeed({ type: 'history', object: { resource, name: 'a', namespace: 'default' } }, context)
  expect(seen(feed.take())).toEqual(['2 a', '0 a'])
  add('b', 4)
  expect(calls()).toBe(1)
  expect(feed.take()).toBeUndefined()
  add('a', 5)
  expect(seen(feed.take())).toEqual(['4 a'])
})
