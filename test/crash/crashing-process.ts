import type { MessageConnection, Transport, TransportRequest, TransportResponse } from '@kubewright/client'

/** Determines at which call a process crashes, and whether that call still takes effect. */
export interface CrashPlan {
  /** The number of the call, counted from 1, among the calls that count. */
  readonly at: number
  readonly call: 'is lost' | 'takes effect'
  /** Selects the calls that count. @default all */
  readonly counts?: (label: string) => boolean
}

/** A simulated process whose calls to the outside stop when it crashes. */
export class CrashingProcess {
  /** The labels of all calls, in order. */
  readonly calls: string[] = []
  readonly crashed: Promise<void>
  #hasCrashed = false
  #resolveCrashed: () => void = () => undefined
  #counted = 0
  readonly #plan: CrashPlan | undefined

  constructor(plan?: CrashPlan) {
    this.#plan = plan
    this.crashed = new Promise((resolve) => {
      this.#resolveCrashed = resolve
    })
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed
  }

  /** Makes a call. A call during which the process crashes never returns, unless its signal aborts. */
  async call<T>(label: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#hasCrashed) return never(signal)
    this.calls.push(label)
    const plan = this.#plan
    const isLast = plan !== undefined && (plan.counts?.(label) ?? true) && ++this.#counted === plan.at
    if (isLast && plan.call === 'is lost') return this.crash(signal)
    const result = await work()
    return isLast || this.#hasCrashed ? this.crash(signal) : result
  }

  /** Makes a call that is not recorded, such as a watch. It also ends when the process crashes. */
  async uncounted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#hasCrashed ? never(signal) : work()
  }

  crash<T>(signal?: AbortSignal): Promise<T> {
    this.#hasCrashed = true
    this.#resolveCrashed()
    return never(signal)
  }
}

/** A promise that only rejects, with the reason of the signal. */
function never<T>(signal: AbortSignal | undefined): Promise<T> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal?.reason as Error)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Whether a request belongs to the machinery of the process rather than to its work: watches, the lease, discovery. */
function isBackground({ method, path }: TransportRequest): boolean {
  return (
    path.includes('watch=true') || path.includes('/leases') || (method === 'GET' && /^\/apis?(\/[^/]+)?$/.test(path))
  )
}

/** A transport that stops working when the process crashes. */
export function crashingTransport(transport: Transport, process: CrashingProcess): Transport {
  return {
    host: transport.host,
    send(request): Promise<TransportResponse> {
      const { method, path, signal } = request
      const send = (): Promise<TransportResponse> => transport.send(request)
      if (isBackground(request)) return process.uncounted(signal, send)
      return process.call(`${method} ${path.replace(/\?.*/, '')}`, signal, send)
    },
    async upgrade(): Promise<MessageConnection> {
      throw new Error('Message connections are not supported for operators under test')
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
