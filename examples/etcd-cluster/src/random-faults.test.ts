// Random crashes and lost pods without an API server: thousands of planned steps per second.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EtcdRefusal } from './etcd.ts'
import { type Facts, planStep, type Step } from './plan-step.ts'
import { localSites, memberName } from './site.ts'
import { FakeEtcd } from './testdata/fake-etcd.ts'

const cluster = { name: 'e', namespace: 'default' }
const sites = localSites({ folder: '/fake', firstPort: 1000 })
const signal = new AbortController().signal

/** Pods, Services and a status: the part of a cluster that planning needs. */
class World {
  readonly fake = new FakeEtcd()
  /** The process of each pod. */
  readonly pods = new Map<number, readonly string[]>()
  readonly names = new Set<number>()
  size = 1
  isFounded = false
  lastOrdinal = -1

  boot(ordinal: number, others: readonly string[]): void {
    const site = sites(cluster, ordinal)
    const name = memberName(cluster, ordinal)
    const command = [
      'etcd',
      `--name=${name}`,
      `--data-dir=${site.dataDir}`,
      `--initial-advertise-peer-urls=${site.peerUrl}`,
      `--advertise-client-urls=${site.clientUrl}`,
      `--initial-cluster=${[...others, site.peerUrl].map((url) => `x=${url}`).join(',')}`,
      `--initial-cluster-state=${others.length > 0 ? 'existing' : 'new'}`,
    ]
    this.pods.set(ordinal, command)
    this.restart(ordinal)
  }

  /** Restarts the container with the same data. */
  restart(ordinal: number): void {
    const command = this.pods.get(ordinal)
    this.fake.crash(memberName(cluster, ordinal))
    if (command !== undefined) this.fake.host.start({ command, env: {}, onLine: () => undefined })
  }

  losePod(ordinal: number): void {
    this.pods.delete(ordinal)
    this.fake.crash(memberName(cluster, ordinal))
  }

  async look(
    isImpatient: boolean,
  ): Promise<{ readonly facts: Facts; readonly speaker: string; readonly peers: string[] }> {
    const healthy = new Map<string, string>()
    for (const ordinal of this.pods.keys()) {
      const { clientUrl } = sites(cluster, ordinal)
      const found = await this.fake.etcd.health(clientUrl, { signal }).catch(() => undefined)
      if (found !== undefined) healthy.set(found.memberId, clientUrl)
    }
    const [speaker] = healthy.values()
    const listed = speaker === undefined ? undefined : await this.fake.etcd.members(speaker, { signal })
    const ordinals = new Map(Array.from({ length: this.lastOrdinal + 2 }, (_, at) => [sites(cluster, at).peerUrl, at]))
    const members = listed?.map(({ id, isLearner, name, peerUrl }) => ({
      id,
      ordinal: ordinals.get(peerUrl),
      isLearner,
      hasStarted: name !== '',
      isHealthy: healthy.has(id),
      isLeader: false,
      isOverdue: !healthy.has(id) && isImpatient,
    }))
    const pods = new Map([...this.pods.keys()].map((ordinal) => [ordinal, { isOver: false, isStopping: false }]))
    const { isFounded, lastOrdinal, size } = this
    const facts = { size, isFounded, lastOrdinal, names: [...this.names], pods, members }
    return { facts, speaker: speaker ?? '', peers: listed?.map(({ peerUrl }) => peerUrl) ?? [] }
  }
}

type Look = Awaited<ReturnType<World['look']>>

async function carryOut(world: World, { facts, peers, speaker }: Look, step: Step): Promise<void> {
  const { etcd } = world.fake
  if (step.do === 'record') {
    world.isFounded = true
    world.lastOrdinal = Math.max(world.lastOrdinal, ...(facts.members ?? []).map(({ ordinal = -1 }) => ordinal))
  } else if (step.do === 'start') {
    if (!step.joins) world.names.add(step.ordinal)
    const others = peers.filter((url) => url !== sites(cluster, step.ordinal).peerUrl)
    if (!world.pods.has(step.ordinal)) world.boot(step.ordinal, step.joins ? others : [])
  } else if (step.do === 'add') {
    world.names.add(step.ordinal)
    await etcd.addLearner(speaker, sites(cluster, step.ordinal).peerUrl, { signal })
  } else if (step.do === 'promote') await etcd.promote(speaker, step.id, { signal })
  else if (step.do === 'remove') await etcd.remove(speaker, step.id, { signal })
  else if (step.do === 'stop') world.losePod(step.ordinal)
  else if (step.do === 'forget') world.names.delete(step.ordinal)
}

const tolerant = (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    const isUsual = /ECONNREFUSED|not found|already exists/.test(String(error))
    if (!(error instanceof EtcdRefusal) && !isUsual) throw error
  })

const ordinal = fc.integer({ min: 0, max: 12 })
const action = fc.oneof(
  { weight: 14, arbitrary: fc.record({ do: fc.constant('operate' as const), isImpatient: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('plan, and be slow' as const), isImpatient: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('carry out what is late' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), ordinal }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restart' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose a pod' as const), ordinal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), to: fc.integer({ min: 1, max: 5 }) }) },
)

test('planStep() never loses the quorum and never starts a second cluster while a majority survives', {
  timeout: 120_000,
}, async () => {
  let removals = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 80, maxLength: 200 }), async (actions) => {
      const world = new World()
      const { fake } = world
      const late: { readonly look: Look; readonly step: Step }[] = []
      const operate = async (isImpatient: boolean): Promise<Step> => {
        const look = await world.look(isImpatient)
        const step = planStep(look.facts)
        await tolerant(carryOut(world, look, step))
        return step
      }
      for (const act of actions) {
        const name = 'ordinal' in act ? memberName(cluster, act.ordinal) : ''
        if (act.do === 'operate') await operate(act.isImpatient)
        else if (act.do === 'resize') world.size = act.to
        else if (act.do === 'crash' && fake.survives(name)) fake.crash(name)
        else if (act.do === 'restart' && fake.survives(name)) world.restart(act.ordinal)
        else if (act.do === 'lose a pod' && fake.survives(name)) world.losePod(act.ordinal)
        else if (act.do === 'plan, and be slow') {
          const look = await world.look(act.isImpatient)
          late.push({ look, step: planStep(look.facts) })
        } else if (act.do === 'carry out what is late') {
          const slow = late.shift()
          // The server rejects a status update or deletion that is based on an outdated object.
          const isSafe = slow && ['add', 'promote', 'remove'].includes(slow.step.do)
          if (isSafe) await tolerant(carryOut(world, slow.look, slow.step))
        }
      }
      for (const at of world.pods.keys()) if (fake.survives(memberName(cluster, at))) world.restart(at)
      // Let timeouts expire occasionally, because a member that was added late may never start.
      let last = await operate(false)
      for (let steps = 0; steps < 200 && last.do !== 'nothing'; steps++) last = await operate(steps % 20 === 19)
      expect(last).toEqual({ do: 'nothing' })
      expect(fake.violations).toEqual([])
      expect(fake.voters().sort()).toEqual([...world.pods.keys()].map((at) => memberName(cluster, at)).sort())
      expect(fake.voters()).toHaveLength(world.size)
      expect([...world.names].sort()).toEqual([...world.pods.keys()].sort())
      removals += fake.history.filter((what) => what.startsWith('remove')).length
    }),
    { numRuns: 300 },
  )
  // Guard against a vacuous property.
  expect(removals).toBeGreaterThan(300)
})
