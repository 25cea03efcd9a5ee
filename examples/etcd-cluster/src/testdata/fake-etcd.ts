import type { ProcessHost, ProcessSpec, RunningProcess } from '@kubewright/controllers'
import { type Etcd, type EtcdMember, EtcdRefusal } from '../etcd.ts'
import { quorumOf } from '../plan-step.ts'

/** The state that a majority has agreed on. */
interface Cluster {
  readonly id: string
  /** Distinguishes clusters that different users start. */
  readonly token: string
  readonly members: Map<string, EtcdMember>
  readonly rows: Map<string, string>
}

interface Process {
  readonly name: string
  readonly clientUrl: string
  readonly cluster: Cluster
  readonly memberId: string
  end(exitCode: number): void
}

// The number of times that promoting a learner is rejected because it lags behind.
const lag = 2

/**
 * A fake etcd without raft: the members of a cluster share their state and agree if a majority of the voters runs. The
 * membership rules are those of etcd 3.4. Programs named etcd that its process host starts are its members.
 */
export class FakeEtcd {
  readonly clusters: Cluster[] = []
  /** The membership changes, in order. */
  readonly history: string[] = []
  /** The times at which a cluster had no majority. */
  readonly violations: string[] = []
  /** The names of members that can no longer run. */
  readonly broken: Set<string> = new Set()
  readonly #running = new Map<string, Process>()
  readonly #disks = new Map<string, { readonly cluster: Cluster; readonly memberId: string }>()
  readonly #lag = new Map<string, number>()
  #nextId = 1

  readonly host: ProcessHost = { start: (spec) => this.#start(spec) }

  readonly etcd: Etcd = {
    health: async (url) => {
      const { cluster, memberId } = this.#answering(url)
      if (cluster.members.get(memberId)?.isLearner) throw new Error('etcdserver: rpc not supported for learner')
      return { clusterId: cluster.id, memberId, isLeader: this.#voters(cluster).running[0]?.memberId === memberId }
    },
    members: async (url) => [...this.#answering(url).cluster.members.values()],
    addLearner: async (url, peerUrl) => {
      const { cluster } = this.#answering(url)
      const all = [...cluster.members.values()]
      if (all.some((member) => member.peerUrl === peerUrl)) throw new Error('etcdserver: Peer URLs already exists')
      if (all.some(({ isLearner }) => isLearner))
        throw new EtcdRefusal('etcdserver: too many learner members in cluster')
      const { running, total } = this.#voters(cluster)
      if (running.length < total) throw new EtcdRefusal('etcdserver: unhealthy cluster')
      const id = String(this.#nextId++)
      cluster.members.set(id, { id, name: '', peerUrl, clientUrl: undefined, isLearner: true })
      this.#lag.set(id, lag)
      this.#note(`add ${peerUrl}`)
    },
    promote: async (url, id) => {
      const { cluster } = this.#answering(url)
      const member = cluster.members.get(id)
      if (member === undefined) throw new Error('etcdserver: member not found')
      const left = this.#lag.get(id) ?? 0
      this.#lag.set(id, left - 1)
      const isRunning = [...this.#running.values()].some(({ memberId }) => memberId === id)
      if (left > 0 || !isRunning) {
        throw new EtcdRefusal('etcdserver: can only promote a learner member which is in sync with leader')
      }
      cluster.members.set(id, { ...member, isLearner: false })
      this.#note(`promote ${member.name}`)
    },
    remove: async (url, id) => {
      const { cluster } = this.#answering(url)
      const member = cluster.members.get(id)
      if (member === undefined) return
      const { running, total } = this.#voters(cluster)
      const isActive = running.some(({ memberId }) => memberId === id)
      if (isActive && running.length - 1 < quorumOf(total - 1)) throw new EtcdRefusal('etcdserver: unhealthy cluster')
      cluster.members.delete(id)
      this.#note(`remove ${member.name || member.peerUrl}`)
      for (const process of this.#running.values()) if (process.memberId === id) process.end(0)
    },
  }

  /** Crashes the process of a member. The node restarts it. */
  crash(name: string): void {
    for (const process of this.#running.values()) if (process.name === name) process.end(137)
  }

  /** Whether a majority would run without the process of the member. */
  survives(name: string): boolean {
    const [cluster] = this.clusters
    if (cluster === undefined) return false
    const { running, total } = this.#voters(cluster)
    return running.filter((process) => process.name !== name).length >= quorumOf(total)
  }

  /** Writes like a client. Rejects without a majority. */
  async put(key: string, value: string): Promise<void> {
    const [cluster] = this.clusters
    if (cluster === undefined || !this.#hasQuorum(cluster)) throw new Error('etcdserver: request timed out')
    cluster.rows.set(key, value)
  }

  /** Whether two clusters were started with the same token. */
  hasSecondCluster(): boolean {
    return new Set(this.clusters.map(({ token }) => token)).size < this.clusters.length
  }

  /** The names of the voting members of the first cluster, or of the one with a token. */
  voters(token?: string): string[] {
    const cluster = token === undefined ? this.clusters[0] : this.clusters.find((one) => one.token === token)
    return [...(cluster?.members.values() ?? [])].filter(({ isLearner }) => !isLearner).map(({ name }) => name)
  }

  #start({ command, env, onLine }: ProcessSpec): RunningProcess {
    let resolve: (exitCode: number) => void = () => undefined
    const exited = new Promise<number>((done) => {
      resolve = done
    })
    const flags = flagsOf(command)
    // The disk belongs to the pod: it survives a restart of the container, but not of the pod.
    const disk = `${env['POD_UID'] ?? ''}${flags.dataDir}`
    const end = (exitCode: number): void => {
      const running = this.#running.get(flags.clientUrl)
      if (running?.end === end) {
        this.#running.delete(flags.clientUrl)
        this.#note(`end ${flags.name}`)
      }
      resolve(exitCode)
    }
    try {
      if (this.broken.has(flags.name)) throw new Error('input/output error')
      const seat = this.#disks.get(disk) ?? this.#join(flags)
      if (!seat.cluster.members.has(seat.memberId)) throw new Error('the member has been permanently removed')
      this.#disks.set(disk, seat)
      const member = seat.cluster.members.get(seat.memberId)!
      seat.cluster.members.set(member.id, { ...member, name: flags.name, clientUrl: flags.clientUrl })
      this.#running.set(flags.clientUrl, { ...flags, ...seat, end })
      this.#note(`start ${flags.name}`)
    } catch (error) {
      onLine((error as Error).message)
      end(1)
    }
    return { exited, stop: () => end(0) }
  }

  #join(flags: Flags): { readonly cluster: Cluster; readonly memberId: string } {
    if (flags.isNew) {
      const id = String(this.#nextId++)
      const { token } = flags
      const cluster: Cluster = { id: `cluster-${this.#nextId++}`, token, members: new Map(), rows: new Map() }
      cluster.members.set(id, { id, name: '', peerUrl: flags.peerUrl, clientUrl: undefined, isLearner: false })
      this.clusters.push(cluster)
      return { cluster, memberId: id }
    }
    for (const { cluster } of this.#running.values()) {
      const isMentioned = [...cluster.members.values()].every(({ peerUrl }) => flags.peers.includes(peerUrl))
      const found = [...cluster.members.values()].find(({ peerUrl }) => peerUrl === flags.peerUrl)
      if (found === undefined || !isMentioned || !this.#hasQuorum(cluster)) continue
      if (found.name !== '') throw new Error(`member ${found.id} has already been bootstrapped`)
      return { cluster, memberId: found.id }
    }
    throw new Error('error validating peerURLs: member count is unequal')
  }

  #answering(url: string): Process {
    const process = this.#running.get(url)
    if (process === undefined) throw new Error(`connect ECONNREFUSED ${url}`)
    if (!this.#hasQuorum(process.cluster)) throw new EtcdRefusal('etcdserver: request timed out')
    return process
  }

  #voters(cluster: Cluster): { readonly total: number; readonly running: readonly Process[] } {
    const voters = [...cluster.members.values()].filter(({ isLearner }) => !isLearner)
    const running = [...this.#running.values()].filter(({ memberId }) => voters.some(({ id }) => id === memberId))
    return { total: voters.length, running }
  }

  #hasQuorum(cluster: Cluster): boolean {
    const { running, total } = this.#voters(cluster)
    return running.length >= quorumOf(total)
  }

  #note(what: string): void {
    this.history.push(what)
    const [first] = this.clusters
    if (first !== undefined && !this.#hasQuorum(first)) this.violations.push(`no quorum after: ${what}`)
    if (this.hasSecondCluster()) this.violations.push(`a second cluster after: ${what}`)
  }
}

interface Flags {
  readonly name: string
  readonly dataDir: string
  readonly clientUrl: string
  readonly peerUrl: string
  readonly peers: readonly string[]
  readonly isNew: boolean
  readonly token: string
}

function flagsOf(command: readonly string[]): Flags {
  const flags = new Map(command.slice(1).map((flag) => flag.replace(/^--/, '').split(/=(.*)/s) as [string, string]))
  const flag = (name: string): string => flags.get(name) ?? ''
  return {
    name: flag('name'),
    dataDir: flag('data-dir'),
    clientUrl: flag('advertise-client-urls'),
    peerUrl: flag('initial-advertise-peer-urls'),
    peers: flag('initial-cluster')
      .split(',')
      .map((peer) => peer.replace(/^[^=]*=/, '')),
    isNew: flag('initial-cluster-state') === 'new',
    token: flag('initial-cluster-token'),
  }
}
