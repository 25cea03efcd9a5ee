import { newAlreadyExists, newConflict, newNotFound } from '@kubewright/api'
import { onAbort, type Random, type VirtualClock } from '@kubewright/base'
import type { Lease } from '@kubewright/k8s/coordination/v1'
import type { LeaseCall, LeaseStore } from '../lease-store.ts'
import type { Machine } from './machine.ts'

/** The faults of a machine's network link; may be changed at any time. */
export interface Link {
  cut: boolean
  /** The probability that a request, and independently a response, is lost. */
  loss: number
  /** The maximum delay of a request, and independently of a response, in milliseconds. */
  delay: number
}

const leases = { group: 'coordination.k8s.io', resource: 'leases' }

/** An in-memory server for Leases with optimistic concurrency, reached over links that delay and lose messages. */
export class LeaseWorld {
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #leases = new Map<string, Lease>()
  #version = 0

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  get leases(): readonly Lease[] {
    return [...this.#leases.values()]
  }

  /** The store as seen by a machine through its link. */
  seenFrom(machine: Machine, link: Link): LeaseStore {
    const send = <T>(serve: () => T, call: LeaseCall = {}): Promise<T> => this.#send(machine, link, serve, call)
    return {
      namespace: 'test',
      find: (name, call) => send(() => this.#leases.get(name), call),
      list: (labels, call) => send(() => this.leases.filter((lease) => carries(lease, labels)), call),
      create: (draft, call) => {
        // The server-side fields are added below.
        const lease = structuredClone(draft) as unknown as Lease
        return send(() => this.#create(lease), call)
      },
      update: (lease, call) => send(() => this.#update(lease), call),
      delete: (lease, call) => send(() => this.#delete(lease), call),
    }
  }

  #send<T>(machine: Machine, link: Link, serve: () => T, { signal, timeout }: LeaseCall): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(signal?.reason))
      const limit = machine.setTimer(Number(timeout ?? 60_000), () => reject(new Error('timed out')), 'request timeout')
      const settle = (answer: () => void): void =>
        machine.run(() => {
          stopListening()
          limit.cancel()
          answer()
        })
      if (this.#loses(link)) return
      this.#clock.setTimer(this.#random.next() * link.delay, () => {
        let answer: () => void
        try {
          const result = serve()
          answer = () => resolve(result)
        } catch (error) {
          answer = () => reject(error)
        }
        if (this.#loses(link)) return
        this.#clock.setTimer(this.#random.next() * link.delay, () => settle(answer), 'answer')
      })
    })
  }

  #loses(link: Link): boolean {
    return link.cut || this.#random.next() < link.loss
  }

  #create(lease: Lease): Lease {
    const { name } = lease.metadata
    if (this.#leases.has(name)) throw newAlreadyExists(leases, name)
    return this.#put({ ...lease, metadata: { ...lease.metadata, uid: `uid-${++this.#version}` } })
  }

  #update(lease: Lease): Lease {
    const { name } = lease.metadata
    const current = this.#leases.get(name)
    if (current === undefined) throw newNotFound(leases, name)
    if (current.metadata.resourceVersion !== lease.metadata.resourceVersion) {
      throw newConflict(leases, name, 'the object has been modified')
    }
    return this.#put(lease)
  }

  #delete(lease: Lease): void {
    const { name, resourceVersion } = lease.metadata
    const current = this.#leases.get(name)
    if (current === undefined) return
    if (current.metadata.resourceVersion !== resourceVersion) throw newConflict(leases, name, 'precondition failed')
    this.#leases.delete(name)
  }

  #put(lease: Lease): Lease {
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } }
    this.#leases.set(lease.metadata.name, stored)
    return stored
  }
}

function carries(lease: Lease, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => lease.metadata.labels?.[name] === value)
}
