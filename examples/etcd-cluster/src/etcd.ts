/** A member as etcd knows it. */
export interface EtcdMember {
  /** A number of 64 bits, in decimal. */
  readonly id: string
  /** Empty until it has started for the first time. */
  readonly name: string
  readonly peerUrl: string
  readonly clientUrl: string | undefined
  /** Gets everything, but has no vote yet. */
  readonly isLearner: boolean
}

/** What a member answers that has just heard from a majority. */
export interface EtcdHealth {
  readonly clusterId: string
  readonly memberId: string
  readonly isLeader: boolean
}

export interface EtcdCall {
  readonly signal: AbortSignal
}

/** The part of etcd's API that an operator needs; every call is made to the member at a URL. */
export interface Etcd {
  /** Resolves if the member has a majority behind it at this moment: what it says afterwards is not older than that. */
  health(url: string, call: EtcdCall): Promise<EtcdHealth>
  members(url: string, call: EtcdCall): Promise<readonly EtcdMember[]>
  /** Adds a learner that will have this address. */
  addLearner(url: string, peerUrl: string, call: EtcdCall): Promise<void>
  /** Gives a learner a vote. Rejects with {@link EtcdRefusal} as long as it lags behind. */
  promote(url: string, id: string, call: EtcdCall): Promise<void>
  remove(url: string, id: string, call: EtcdCall): Promise<void>
}

/** Thrown when etcd does not do something now that it may do later: members lag behind or have not been in touch for long enough. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal'
}
