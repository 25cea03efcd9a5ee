import type { MessageConnection, Transport, TransportRequest, TransportResponse } from '@kubewright/client'

/** When a process dies: at which of its calls, and whether that call still takes effect. */
export interface Fate {
  /** Which call, counted from 1, among those that are fateful. */
  readonly at: number
  readonly call: 'is lost' | 'takes effect'
  /** Which calls count. @default all */
  readonly isFateful?: (label: string) => boolean
}

/** The life of a process as the world sees it: calls that it makes, until it makes none any more. */
export class Life {
  /** What was called, in order. */
  readonly calls: string[] = []
  readonly died: Promise<void>
  #isDead = false
  #die: () => void = () => undefined
  #fateful = 0
  readonly #fate: Fate | undefined

  constructor(fate?: Fate) {
    this.#fate = fate
    this.died = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Makes a call. One that the process does not live to see the end of never returns, unless it is aborted. */
  async call<T>(label: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#isDead) return never(signal)
    this.calls.push(label)
    const fate = this.#fate
    const isLast = fate !== undefined && (fate.isFateful?.(label) ?? true) && ++this.#fateful === fate.at
    if (isLast && fate.call === 'is lost') return this.end(signal)
    const result = await work()
    return isLast || this.#isDead ? this.end(signal) : result
  }

  /** Makes a call that is no call of its work, such as a watch: it does not count, but ends with the life all the same. */
  async uncounted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#isDead ? never(signal) : work()
  }

  end<T>(signal?: AbortSignal): Promise<T> {
    this.#isDead = true
    this.#die()
    return never(signal)
  }
}

function never<T>(signal: AbortSignal | undefined): Promise<T> {
  return new Promise((_, reject) => {
    // Whoever aborts gives the reason.
    const abort = (): void => reject(signal?.reason as Error)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Whether requests belong to the process rather than to its work: watches, the lease, discovery. */
function isBackground({ method, path }: TransportRequest): boolean {
  return (
    path.includes('watch=true') || path.includes('/leases') || (method === 'GET' && /^\/apis?(\/[^/]+)?$/.test(path))
  )
}

/** A transport that is cut off when the life ends. */
export function mortal(transport: Transport, life: Life): Transport {
  return {
    host: transport.host,
    send(request): Promise<TransportResponse> {
      const { method, path, signal } = request
      const send = (): Promise<TransportResponse> => transport.send(request)
      if (isBackground(request)) return life.uncounted(signal, send)
      return life.call(`${method} ${path.replace(/\?.*/, '')}`, signal, send)
    },
    async upgrade(): Promise<MessageConnection> {
      throw new Error('Operators under test have no use for connections')
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
