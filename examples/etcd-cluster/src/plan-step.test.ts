import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Facts, type MemberFacts, type PodFacts, planStep, quorumOf, type Step } from './plan-step.ts'

const podFacts = fc.record({ isOver: fc.boolean(), isStopping: fc.boolean() })

const memberFacts = (ordinal: number): fc.Arbitrary<MemberFacts & { readonly pod: PodFacts | undefined }> =>
  fc.record({
    id: fc.constant(`m${ordinal}`),
    ordinal: fc.constant(ordinal),
    isLearner: fc.constant(false),
    hasStarted: fc.boolean(),
    isHealthy: fc.boolean(),
    isLeader: fc.constant(ordinal === 0),
    isOverdue: fc.boolean(),
    pod: fc.option(podFacts, { nil: undefined }),
  })

/** Any cluster with a majority, without which its members would not be known. */
const facts: fc.Arbitrary<Facts> = fc
  .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 7 }), fc.boolean(), fc.boolean())
  .chain(([size, count, hasLearner, hasLeftOvers]) =>
    fc
      .tuple(...Array.from({ length: count + (hasLearner ? 1 : 0) }, (_, index) => memberFacts(index)))
      .map((drafts) => {
        const members = drafts.map((member, index) => ({ ...member, isLearner: index === count }))
        const pods = new Map(
          members.flatMap(({ ordinal, pod }) => (pod && ordinal !== undefined ? [[ordinal, pod]] : [])),
        )
        if (hasLeftOvers) pods.set(20, { isOver: false, isStopping: false })
        return {
          size,
          isFounded: true,
          lastOrdinal: 20,
          names: members.map(({ ordinal }) => ordinal ?? 0),
          pods,
          members,
        }
      }),
  )
  .filter((some) => answering(some) >= quorumOf(votersOf(some).length))

const votersOf = ({ members = [] }: Facts) => members.filter(({ isLearner }) => !isLearner)
const answering = (some: Facts): number => votersOf(some).filter(({ isHealthy }) => isHealthy).length

test('planStep() never removes the quorum and never adds to an unhealthy cluster', () => {
  fc.assert(
    fc.property(facts, (some) => {
      const step = planStep(some)
      const voters = votersOf(some)
      const healthy = answering(some)
      if (step.do === 'remove') {
        const member = some.members?.find(({ id }) => id === step.id)
        if (member?.isLearner) return
        expect(healthy - (member?.isHealthy ? 1 : 0)).toBeGreaterThanOrEqual(quorumOf(voters.length - 1))
        // A healthy member is removed only when the size was reduced, and only after the unhealthy ones.
        if (member?.isHealthy) expect([voters.length > some.size, healthy]).toEqual([true, voters.length])
      }
      // The quorum holds even if the new voter fails immediately. A cluster of two tolerates no failure.
      if (step.do === 'promote' && voters.length > 1)
        expect(healthy).toBeGreaterThanOrEqual(quorumOf(voters.length + 1))
      if (step.do === 'promote' || step.do === 'add') expect(healthy).toBe(voters.length)
      if (step.do === 'add') expect(some.members).toHaveLength(voters.length)
    }),
    { numRuns: 2000 },
  )
})

test('planStep() stops only pods of former members and starts only pods of members', () => {
  fc.assert(
    fc.property(facts, (some) => {
      const step: Step = planStep(some)
      const isMember = 'ordinal' in step && some.members?.some(({ ordinal }) => ordinal === step.ordinal)
      if (step.do === 'stop' || step.do === 'forget' || step.do === 'add') expect(isMember).toBe(false)
      if (step.do === 'start' || step.do === 'promote' || step.do === 'remove') expect(isMember).toBe(true)
    }),
  )
})

test('planStep() settles from any state', () => {
  fc.assert(
    fc.property(facts, (some) => {
      let now = some
      for (let steps = 0; steps < 200; steps++) {
        const step = planStep(now)
        if (step.do === 'nothing') {
          expect(votersOf(now)).toHaveLength(now.size)
          return
        }
        now = after(now, step)
      }
      expect.fail('no end')
    }),
  )
})

/** A model in which nothing fails: pods start, and unhealthy members recover. */
function after(some: Facts, step: Step): Facts {
  const members = [...(some.members ?? [])]
  const pods = new Map(some.pods)
  const index = 'id' in step ? members.findIndex(({ id }) => id === step.id) : -1
  let { lastOrdinal, names } = some
  switch (step.do) {
    case 'add':
      names = [...names, step.ordinal]
      members.push(fresh(step.ordinal))
      break
    case 'start':
      pods.set(step.ordinal, { isOver: false, isStopping: false })
      break
    case 'promote':
      members[index] = { ...members[index]!, isLearner: false, isHealthy: true }
      break
    case 'remove':
      members.splice(index, 1)
      break
    case 'stop':
      pods.delete(step.ordinal)
      break
    case 'forget':
      names = names.filter((ordinal) => ordinal !== step.ordinal)
      break
    case 'record':
      lastOrdinal = Math.max(lastOrdinal, ...members.map(({ ordinal = -1 }) => ordinal))
      break
    case 'wait':
      for (const [at, member] of members.entries()) members[at] = { ...member, hasStarted: true, isHealthy: true }
      break
  }
  return { ...some, members, pods, names, lastOrdinal }
}

const fresh = (ordinal: number): MemberFacts => ({
  id: `m${ordinal}`,
  ordinal,
  isLearner: true,
  hasStarted: false,
  isHealthy: false,
  isLeader: false,
  isOverdue: false,
})

test('planStep() never starts a new cluster once the cluster id is recorded', () => {
  const nothing = { size: 3, lastOrdinal: -1, names: [], pods: new Map(), members: undefined }
  expect(planStep({ ...nothing, isFounded: false })).toEqual({ do: 'start', ordinal: 0, joins: false })
  expect(planStep({ ...nothing, isFounded: true })).toEqual({ do: 'wait', reason: 'NoQuorum' })
})
