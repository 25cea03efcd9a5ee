import type { Random } from '@kubewright/base'
import type { EtcdCluster } from '../../../packages/storage/src/testdata/etcd-cluster.ts'
import type { ServerGroup } from '../../servers/server-group.ts'

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Kills and restarts servers and members of etcd. */
export class Monkey {
  readonly counts = { serverKills: 0, serverStops: 0, memberKills: 0, quorumLosses: 0 }
  readonly #group: ServerGroup | undefined
  readonly #etcd: EtcdCluster
  readonly #random: Random
  readonly #repairs = new Set<Promise<void>>()
  readonly #downServers = new Set<number>()
  readonly #downMembers = new Set<number>()

  /** Without servers, it kills members only. */
  constructor(group: ServerGroup | undefined, etcd: EtcdCluster, random: Random) {
    this.#group = group
    this.#etcd = etcd
    this.#random = random
  }

  describe(): string {
    const { serverKills, serverStops, memberKills } = this.counts
    return `${serverKills} servers and ${memberKills} members killed, ${serverStops} servers stopped`
  }

  /** Makes one failure, and repairs it after a while. */
  async strike(): Promise<void> {
    if (this.#group && this.#random.next() < 0.6) this.#strikeServer(this.#group)
    else this.#strikeMember()
  }

  /** Restarts everything. */
  async heal(): Promise<void> {
    while (this.#repairs.size > 0) await Promise.all(this.#repairs)
  }

  #strikeServer(group: ServerGroup): void {
    const up = Array.from({ length: group.size }, (_, i) => i).filter((i) => !this.#downServers.has(i))
    // One server stays, so that clients have a server to retry on.
    if (up.length < 2) return
    const index = up[this.#random.int(up.length)]!
    const isClean = this.#random.next() < 0.25
    this.counts[isClean ? 'serverStops' : 'serverKills']++
    this.#later(this.#downServers, index, async () => {
      await group.stop(index, isClean ? 'SIGTERM' : 'SIGKILL')
      await pause(this.#random.int(4000))
      // A start fails while etcd has no quorum.
      while (
        !(await group.start(index).then(
          () => true,
          () => false,
        ))
      )
        await pause(500)
    })
  }

  #strikeMember(): void {
    const { members } = this.#etcd
    const up = members.map((_, i) => i).filter((i) => !this.#downMembers.has(i))
    if (up.length === 0) return
    const isQuorumLost = up.length === members.length && this.#random.next() < 0.2
    if (up.length < members.length && this.#random.next() < 0.7) return
    for (const index of isQuorumLost ? up.slice(1) : [up[this.#random.int(up.length)]!]) {
      this.counts.memberKills++
      this.#later(this.#downMembers, index, async () => {
        await members[index]!.kill()
        await pause(500 + this.#random.int(3000))
        await members[index]!.start()
      })
    }
    if (this.#downMembers.size > members.length / 2) this.counts.quorumLosses++
  }

  #later(down: Set<number>, index: number, work: () => Promise<void>): void {
    down.add(index)
    const repair = work().finally(() => {
      down.delete(index)
      this.#repairs.delete(repair)
    })
    this.#repairs.add(repair)
  }
}
