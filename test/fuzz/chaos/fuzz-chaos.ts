// Kills servers and members of etcd at random moments while clients, which retry on other servers, write and watch. Verifies every
// acknowledged write, every watch event, the allocations of services and the pods of Deployments.
import { seededRandom } from '@kubewright/base'
import { startEtcdCluster } from '../../../packages/storage/src/testdata/etcd-cluster.ts'
import { ServerGroup, sendAnywhere } from '../../servers/server-group.ts'
import { deployment, Requests } from '../../up/requests.ts'
import { RecordedWriter } from '../crash/recorded-writer.ts'
import { verifyWrites } from '../crash/verify-crash.ts'
import { type SeenChange, WatchLog } from '../crash/watch-log.ts'
import { Monkey } from './monkey.ts'
import { ServiceLoad } from './service-load.ts'

/** Options of {@link fuzzChaos}. */
export interface FuzzChaosOptions {
  readonly seed: string
  /** How long servers and members are killed, in milliseconds. */
  readonly millis: number
  /** @default 3 */
  readonly servers?: number
  /** Another checkout of this repository, whose servers take turns with those of this one. @default none */
  readonly otherCheckout?: string | undefined
  /** The mean time between two kills, in milliseconds. @default 5000 */
  readonly killEvery?: number
  readonly onProgress?: (text: string) => void
}

/** The figures of a run. */
export interface FuzzChaosReport {
  readonly serverKills: number
  readonly serverStops: number
  readonly memberKills: number
  /** Kills of more than half of the members. */
  readonly quorumLosses: number
  /** Writes with a response; each was found exactly once. */
  readonly acknowledged: number
  /** Writes without a response or with a server error; each was found once or not at all. */
  readonly undecided: number
  readonly events: number
  readonly lists: number
  readonly servicesCreated: number
  readonly servicesDeleted: number
  readonly deployments: number
  /** The pods that were created and deleted for the Deployments. */
  readonly podsCreated: number
  readonly podsDeleted: number
  /** The longest time between two acknowledged writes, in milliseconds. */
  readonly longestGap: number
  readonly mistakes: readonly string[]
}

const writerCount = 6
const watchCount = 3
const replicas = 20
const maps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const pods = '/api/v1/namespaces/default/pods'
const settlePatience = 180_000

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
const isEvent = ({ type }: SeenChange): boolean => type !== 'LISTED' && type !== 'ABSENT'

/** Runs until the time is over, lets everything settle and verifies. */
export async function fuzzChaos(options: FuzzChaosOptions): Promise<FuzzChaosReport> {
  const random = seededRandom(options.seed)
  await using etcd = await startEtcdCluster(3)
  await using group = await ServerGroup.start(options.servers ?? 3, etcd.urls, ['--nodes', '2'], options.otherCheckout)
  const connect = (): Requests[] => Array.from({ length: group.size }, (_, i) => new Requests(group.kubeconfig(i)))
  const clients = connect()
  const watches = Array.from({ length: watchCount }, (_, i) => new WatchLog(`watch ${i}`, maps, connect()))
  const writers = Array.from(
    { length: writerCount },
    (_, i) => new RecordedWriter(maps, `w${i}`, random.fork(`writer ${i}`)),
  )
  const services = new ServiceLoad(clients, random.fork('services'))
  const podLog = new WatchLog('pods', pods, connect())
  const monkey = new Monkey(group, etcd, random.fork('monkey'))
  const deployed: string[] = []
  let isOver = false
  const mistakes: string[] = []

  const write = async (writer: RecordedWriter, first: number): Promise<void> => {
    for (let turn = first; !isOver; turn++) {
      const client = clients[turn % clients.length]!
      await writer.run(client, () => isOver)
      await pause(20)
    }
  }
  const deploy = async (): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const name = `web-${i}`
      await sendAnywhere(clients, i, { method: 'POST', path: deployments, body: deployment(name, replicas) })
      deployed.push(name)
      for (let waited = 0; waited < 30_000 && !isOver; waited += 500) await pause(500)
    }
  }
  await Promise.all([...watches, podLog].map((watch) => watch.started()))
  const loads = [...writers.map(write), services.run(() => isOver), deploy()]
  // A load that fails ends the run with its error.
  const failed = Promise.all(loads).catch((error: unknown) => void mistakes.push(`a client gave up: ${String(error)}`))
  try {
    const end = Date.now() + options.millis
    while (Date.now() < end && mistakes.length === 0) {
      await pause((0.5 + random.next()) * (options.killEvery ?? 5000))
      options.onProgress?.(
        `${Math.round((end - Date.now()) / 1000)} s left: ${monkey.describe()}, ${count(writers)} writes`,
      )
      await monkey.strike()
      mistakes.push(...(await services.check()))
    }
    await monkey.heal()
    isOver = true
    await failed
    mistakes.push(...services.mistakes, ...podLog.mistakes)
    mistakes.push(...(await settled(clients, deployed)))
    mistakes.push(...(await services.check(true)))
    mistakes.push(...(await verifyWrites(clients[0]!, maps, writers, watches)))
  } finally {
    isOver = true
    for (const watch of [...watches, podLog]) await watch.stop()
    for (const client of clients) client[Symbol.dispose]()
  }
  const writes = writers.flatMap((writer) => writer.writes)
  const acknowledged = writes.filter(({ version }) => version !== undefined).length
  const podsSeen = (type: string): number =>
    new Set(podLog.changes.filter((change) => change.type === type).map(({ name }) => name)).size
  return {
    ...monkey.counts,
    ...{ acknowledged, mistakes, undecided: writes.length - acknowledged },
    events: watches.reduce((sum, { changes }) => sum + changes.filter(isEvent).length, 0),
    lists: watches.reduce((sum, { lists }) => sum + lists, 0),
    servicesCreated: services.created,
    servicesDeleted: services.deleted,
    deployments: deployed.length,
    podsCreated: podsSeen('ADDED'),
    podsDeleted: podsSeen('DELETED'),
    longestGap: longestGap(writers),
  }
}

const count = (writers: readonly RecordedWriter[]): number =>
  writers.reduce((sum, { writes }) => sum + writes.length, 0)

function longestGap(writers: readonly RecordedWriter[]): number {
  const times = writers.flatMap(({ acknowledgedAt }) => acknowledgedAt).sort((a, b) => a - b)
  return Math.round(times.reduce((most, time, i) => (i === 0 ? 0 : Math.max(most, time - times[i - 1]!)), 0))
}

/** Waits until every Deployment has all replicas, and verifies that exactly that many pods exist. */
async function settled(clients: readonly Requests[], names: readonly string[]): Promise<string[]> {
  const until = Date.now() + settlePatience
  interface Listed {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string; readonly labels: { app: string } }
    readonly status?: { readonly availableReplicas?: number; readonly phase?: string }
  }
  const problems = async (): Promise<string[]> => {
    const found = (await sendAnywhere(clients, 0, { method: 'GET', path: deployments })).body.items as Listed[]
    const running = (await sendAnywhere(clients, 0, { method: 'GET', path: pods })).body.items as Listed[]
    return names.flatMap((name) => {
      const available = found.find(({ metadata }) => metadata.name === name)?.status?.availableReplicas
      const owned = running.filter(({ metadata }) => metadata.labels.app === name).length
      return available === replicas && owned === replicas ? [] : [`${name}: ${available} available, ${owned} pods`]
    })
  }
  for (;;) {
    const left = await problems()
    if (left.length === 0 || Date.now() > until) return left
    await pause(500)
  }
}
