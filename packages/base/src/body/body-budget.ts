/** Limits of the request bodies that a server holds in memory, in bytes. */
export interface BodyBudgetLimits {
  /** Of all connections together. */
  readonly total: number
  /** Of one connection. */
  readonly connection: number
}

/** Counts the bytes of request bodies in memory, for each connection and for all of them together. */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits
  readonly #accounts = new WeakMap<object, BodyAccount>()
  #bytes = 0

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits
  }

  /** The bytes of all connections. */
  get bytes(): number {
    return this.#bytes
  }

  /** The account of a connection, which is any object that exists as long as the connection. */
  accountOf(connection: object): BodyAccount {
    const known = this.#accounts.get(connection)
    if (known) return known
    const account = this.#create()
    this.#accounts.set(connection, account)
    return account
  }

  #create(): BodyAccount {
    const { connection, total } = this.#limits
    let own = 0
    return {
      charge: (bytes) => {
        if (own + bytes > connection || this.#bytes + bytes > total) return false
        own += bytes
        this.#bytes += bytes
        return true
      },
      release: (bytes) => {
        own -= bytes
        this.#bytes -= bytes
      },
    }
  }
}

/** The part of a {@link BodyBudget} that one connection uses. */
export interface BodyAccount {
  /** Counts further bytes. Returns false, and counts nothing, if there is no room for them. */
  charge(bytes: number): boolean
  /** Deducts bytes that are no longer in memory. */
  release(bytes: number): void
}
