/** A member as listed by etcd. */
export interface EtcdMember {
  /** A 64-bit number in decimal. */
  readonly id: string
  /** Empty until the member has started for the first time. */
  readonly name: string
  readonly peerUrl: string
  readonly clientUrl: string | undefined
  /** A learner receives all data but has no vote. */
  readonly isLearner: boolean
}

/** The state of a member that has just confirmed a majority. */
export interface EtcdHealth {
  readonly clusterId: string
  readonly memberId: string
  readonly isLeader: boolean
}

export interface EtcdCall {
  readonly signal: AbortSignal
}

/** The part of etcd's API that the operator needs. Every call goes to the member at a URL. */
export interface Etcd {
  /** Resolves if the member currently reaches a majority. Later responses of the member are at least as recent. */
  health(url: string, call: EtcdCall): Promise<EtcdHealth>
  members(url: string, call: EtcdCall): Promise<readonly EtcdMember[]>
  /** Adds a learner with this peer URL. */
  addLearner(url: string, peerUrl: string, call: EtcdCall): Promise<void>
  /** Promotes a learner to a voter. Rejects with {@link EtcdRefusal} while the learner lags behind. */
  promote(url: string, id: string, call: EtcdCall): Promise<void>
  remove(url: string, id: string, call: EtcdCall): Promise<void>
}

/** etcd rejected a request that may succeed later: members lag behind or have not been connected long enough. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal'
}
