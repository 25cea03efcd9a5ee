// Starts a real etcd cluster of several members for tests, whose members can be killed and restarted with their data.
import { type EtcdProcess, startEtcd } from './etcd-process.ts'
import { freePort } from './free-port.ts'

/** The members of an etcd cluster. */
export interface EtcdCluster extends AsyncDisposable {
  readonly members: readonly EtcdProcess[]
  /** The client URLs of all members. */
  readonly urls: readonly string[]
}

/** Starts a cluster. Resolves when all members serve clients. */
export async function startEtcdCluster(size: number): Promise<EtcdCluster> {
  const peers = await Promise.all(Array.from({ length: size }, async () => `http://127.0.0.1:${await freePort()}`))
  const cluster = peers.map((peer, i) => `m${i}=${peer}`).join(',')
  // The defaults of etcd: on a busy machine, shorter ones lead to elections without a failure.
  const flags = ['--heartbeat-interval', '100', '--election-timeout', '1000']
  const members = await Promise.all(peers.map((peer, i) => startEtcd({ name: `m${i}`, peer, cluster, flags })))
  return {
    members,
    urls: members.map(({ url }) => url),
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member[Symbol.asyncDispose]()))
    },
  }
}
