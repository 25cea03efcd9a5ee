// Random crashes, network cuts and data loss without an API server: thousands of planned steps per second.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Database, Fenced } from './database.ts'
import { type Facts, type InstanceFacts, planStep, type Step, synchronousOf, type Topology } from './plan-step.ts'
import { FakeDatabases } from './testdata/fake-databases.ts'

const urlOf = (name: string): string => `http://${name}`
const signal = new AbortController().signal

/** Pods and decisions: the part of a cluster that planning needs. */
class World {
  readonly fake = new FakeDatabases()
  readonly pods = new Map<string, { readonly ordinal: number; readonly disk: string }>()
  topology: Topology | undefined
  wanted = 3
  #disks = 0

  startPod(ordinal: number): void {
    const name = `db-${ordinal}`
    const disk = `disk-${this.#disks++}`
    this.pods.set(name, { ordinal, disk })
    this.fake.start(urlOf(name), disk)
  }

  stopPod(name: string): void {
    this.pods.delete(name)
    this.fake.crash(urlOf(name))
  }

  /** Restarts the container with the same data. */
  restart(name: string): void {
    const pod = this.pods.get(name)
    if (pod === undefined) return
    this.fake.crash(urlOf(name))
    this.fake.start(urlOf(name), pod.disk)
  }

  async look(isImpatient: boolean): Promise<Facts> {
    const instances = new Map<string, InstanceFacts>()
    for (const [name, { ordinal }] of this.pods) {
      const report = await this.fake.database.report(urlOf(name), { signal }).catch(() => undefined)
      instances.set(name, { name, ordinal, report, isLost: report === undefined && isImpatient, isStopping: false })
    }
    return { wanted: this.wanted, topology: this.topology, instances, nameOf: (ordinal) => `db-${ordinal}` }
  }
}

/** An operator that may be slow: it may carry out a step long after planning it, when another operator has taken over. */
async function carryOut(world: World, facts: Facts, step: Step): Promise<void> {
  const { topology } = facts
  const database: Database = world.fake.database
  if (step.do === 'start' && !world.pods.has(`db-${step.ordinal}`)) world.startPod(step.ordinal)
  if (step.do === 'stop') world.stopPod(step.name)
  // The server rejects a decision that is not based on the latest one.
  if (step.do === 'decide' && world.topology === topology) world.topology = step.topology
  if (topology === undefined) return
  const { epoch, primary, revision } = topology
  const synchronous = synchronousOf(topology).map((name) => ({ name, url: urlOf(name) }))
  if (step.do === 'promote')
    await database.promote(urlOf(primary), { id: step.id, epoch, revision, synchronous }, { signal })
  if (step.do === 'feed') {
    const snapshot = await database.snapshot(urlOf(primary), epoch, { signal })
    await database.restore(urlOf(step.name), { ...snapshot, id: step.id }, { signal })
  }
}

const tolerant = (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    if (!(error instanceof Fenced) && !String(error).includes('ECONNREFUSED')) throw error
  })

const ordinal = fc.integer({ min: 0, max: 3 })
const action = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('operate' as const), isImpatient: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('plan, and be slow' as const), isImpatient: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('carry out what is late' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hide' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('isolate' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('heal' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose a pod' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), to: fc.integer({ min: 1, max: 4 }) }) },
)

test('planStep() loses no confirmed row and never has two confirming primaries while an in-sync instance keeps its data', async () => {
  let failOvers = 0
  let confirmed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 60, maxLength: 160 }), async (actions) => {
      const world = new World()
      const { fake } = world
      const late: { readonly facts: Facts; readonly step: Step }[] = []
      let writes = 0
      const operate = async (isImpatient: boolean): Promise<Step> => {
        const facts = await world.look(isImpatient)
        const step = planStep(facts)
        await tolerant(carryOut(world, facts, step))
        return step
      }
      for (const act of actions) {
        const name = 'ordinal' in act ? `db-${act.ordinal}` : ''
        if (act.do === 'operate') await operate(act.isImpatient)
        else if (act.do === 'write') await fake.writeEverywhere(`row ${writes++}`)
        else if (act.do === 'restart') world.restart(name)
        else if (act.do === 'hide') fake.hidden.add(urlOf(name))
        else if (act.do === 'isolate') fake.isolated.add(urlOf(name))
        else if (act.do === 'resize') world.wanted = act.to
        else if (act.do === 'lose a pod') {
          // At least one instance with all rows must remain.
          const others = world.topology?.inSync.filter((one) => one !== name && world.pods.has(one)) ?? []
          const hasData = (one: string): boolean => fake.at(urlOf(one))?.report().role !== 'empty'
          if (!others.some(hasData)) continue
          world.stopPod(name)
          // It is unknown whether an expelled instance has every row. In-sync instances can be chosen, even by a late
          // decision.
          const leavesData = (step: Step): boolean =>
            step.do !== 'decide' || step.topology.inSync.some((one) => world.pods.has(one) && hasData(one))
          late.splice(0, late.length, ...late.filter(({ step }) => leavesData(step)))
        } else if (act.do === 'plan, and be slow') {
          const facts = await world.look(act.isImpatient)
          late.push({ facts, step: planStep(facts) })
        } else if (act.do === 'carry out what is late') {
          const slow = late.shift()
          // A deletion has the uid of its pod as precondition, so it is never outdated.
          if (slow && slow.step.do !== 'stop' && slow.step.do !== 'start') {
            await tolerant(carryOut(world, slow.facts, slow.step))
          }
        } else {
          fake.hidden.clear()
          fake.isolated.clear()
        }
      }
      fake.hidden.clear()
      fake.isolated.clear()
      let last = await operate(true)
      for (let steps = 0; steps < 100 && last.do !== 'nothing'; steps++) last = await operate(true)
      expect(last).toEqual({ do: 'nothing' })
      await fake.writeEverywhere('last')
      expect(fake.lateConfirmations()).toEqual([])
      const { inSync = [], primary = '', epoch = 0 } = world.topology ?? {}
      expect(inSync).toHaveLength(world.wanted)
      const rows =
        fake
          .at(urlOf(primary))
          ?.read()
          .map(({ text }) => text) ?? []
      const texts = fake.confirmed.map(({ text }) => text)
      // All confirmed rows exactly once, in the order of their confirmation.
      expect(rows.filter((row) => texts.includes(row))).toEqual(texts)
      expect(texts.at(-1)).toContain('last')
      for (const name of inSync)
        expect(
          fake
            .at(urlOf(name))
            ?.read()
            .map(({ text }) => text),
        ).toEqual(rows)
      failOvers += epoch - 1
      confirmed += texts.length
    }),
    { numRuns: 300 },
  )
  // Guard against a vacuous property.
  expect(failOvers).toBeGreaterThan(50)
  expect(confirmed).toBeGreaterThan(1000)
}, 120_000)
