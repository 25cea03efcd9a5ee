import fc from 'fast-check'
import { expect, test } from 'vitest'
import { now, type PodFacts, pod } from '../testdata/objects.ts'
import { rankForDeletion } from './rank-for-deletion.ts'

const order = (...facts: PodFacts[]): (string | undefined)[] =>
  rankForDeletion(facts.map(pod), facts.map(pod), now).map(({ metadata }) => metadata.name)

test.each<[string, PodFacts, PodFacts]>([
  ['without a node', {}, { node: 'a' }],
  ['pending', { node: 'a', phase: 'Pending' }, { node: 'a' }],
  ['not ready', { node: 'a' }, { node: 'a', ready: 60 }],
  [
    'of lower deletion cost',
    { node: 'a', ready: 60, annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } },
    { node: 'a', ready: 60 },
  ],
  ['ready for a much shorter time', { node: 'a', ready: 10 }, { node: 'b', ready: 10_000 }],
  ['restarted more often', { node: 'a', ready: 60, restarts: 5 }, { node: 'b', ready: 60 }],
  ['created much later', { node: 'a', ready: 5, age: 10 }, { node: 'b', ready: 5, age: 10_000 }],
])('rankForDeletion() puts a pod first that is %s', (_, first, second) => {
  expect(order({ ...second, name: 'keep' }, { ...first, name: 'go' })).toEqual(['go', 'keep'])
})

test('rankForDeletion() ranks pods on nodes with several pods first', () => {
  const ready = { ready: 60, age: 60 }
  const ranked = order(
    { ...ready, name: 'alone', node: 'a' },
    { ...ready, name: 'x', node: 'b' },
    { ...ready, name: 'y', node: 'b' },
  )
  expect(ranked[2]).toBe('alone')
})

test('rankForDeletion() is a total order, independent of the order of the pods', () => {
  const facts = fc.record({
    node: fc.constantFrom('a', 'b'),
    ready: fc.integer({ min: 0, max: 100_000 }),
    age: fc.integer({ min: 0, max: 100_000 }),
    restarts: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 8 }), (list) => {
      const pods = list.map((one, index) => pod({ ...one, name: `p${index}` }))
      const names = (ranked: readonly { metadata: { name: string } }[]) => ranked.map(({ metadata }) => metadata.name)
      expect(names(rankForDeletion([...pods].reverse(), pods, now))).toEqual(names(rankForDeletion(pods, pods, now)))
    }),
  )
})
