import { linkSignals, onAbort } from '@kubewright/base'
import type { AssembledServer } from '@kubewright/server'

type ApiHandler = AssembledServer['handler']
type ApiRequest = Parameters<ApiHandler>[0]
type ApiResponse = Awaited<ReturnType<ApiHandler>>

/** The resource that a fault concerns. The group is empty for the core group. */
export interface FaultTarget {
  readonly group: string
  readonly plural: string
}

/** Writes that will fail. */
export interface WriteFault extends FaultTarget {
  readonly id: number
  /** The HTTP status of the failures. */
  readonly status: number
  /** The number of writes that still fail. */
  readonly remaining: number
}

/** The status codes that a {@link WriteFault} can have, with the reasons of their Status objects. */
export const faultReasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

interface OpenWatch {
  readonly target: FaultTarget
  cut(): void
}

/** Injects faults into the requests that pass through a handler: failing writes and broken watches. */
export class RequestFaults {
  readonly #watches = new Set<OpenWatch>()
  readonly #changed: () => void
  #faults: readonly WriteFault[] = []
  #lastId = 0

  /** `changed` is called after every change of {@link armed}. */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** The writes that will fail. */
  get armed(): readonly WriteFault[] {
    return this.#faults
  }

  /** Fails the next writes of a resource, dry runs excepted. Throws for a status without a reason. */
  failWrites({
    group,
    plural,
    status,
    count,
  }: FaultTarget & { readonly status: number; readonly count: number }): void {
    if (!Object.hasOwn(faultReasons, status))
      throw new RangeError(`A write cannot fail with ${status}: use one of ${Object.keys(faultReasons).join(', ')}`)
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`count must be at least 1: ${count}`)
    this.#set([...this.#faults, { id: ++this.#lastId, group, plural, status, remaining: count }])
  }

  /** Removes a fault. */
  disarm(id: number): void {
    this.#set(this.#faults.filter((fault) => fault.id !== id))
  }

  /** Breaks the connections of all watches of a resource. Returns their number. */
  cutWatches({ group, plural }: FaultTarget): number {
    const cut = [...this.#watches].filter(({ target }) => target.group === group && target.plural === plural)
    for (const watch of cut) watch.cut()
    return cut.length
  }

  /** A handler whose requests are subject to the faults. */
  around(inner: ApiHandler): ApiHandler {
    return async (request) => {
      const target = targetOf(request.path)
      if (target === undefined) return inner(request)
      if (request.method === 'GET') return isWatch(request) ? this.#watch(inner, request, target) : inner(request)
      const fault = request.query.has('dryRun') ? undefined : this.#take(target)
      return fault === undefined ? inner(request) : failure(request, fault)
    }
  }

  #take({ group, plural }: FaultTarget): WriteFault | undefined {
    const fault = this.#faults.find((one) => one.group === group && one.plural === plural)
    if (fault === undefined) return undefined
    const used = { ...fault, remaining: fault.remaining - 1 }
    this.#set(this.#faults.flatMap((one) => (one !== fault ? [one] : used.remaining > 0 ? [used] : [])))
    return fault
  }

  #set(faults: readonly WriteFault[]): void {
    this.#faults = faults
    this.#changed()
  }

  async #watch(inner: ApiHandler, request: ApiRequest, target: FaultTarget): Promise<ApiResponse> {
    const link = linkSignals(request.signal)
    const response = await inner({ ...request, signal: link.signal })
    const { body } = response
    if (typeof body !== 'function') {
      link[Symbol.dispose]()
      return response
    }
    return {
      ...response,
      body: async (sink) => {
        const problem = new Error('The watch was cut by the console')
        const open: OpenWatch = { target, cut: () => link.abort(problem) }
        this.#watches.add(open)
        let stopListening: () => void = () => undefined
        // Rejects, so that the client sees a broken connection and not the end of the watch.
        const cut = new Promise<never>((_, reject) => {
          stopListening = onAbort(link.signal, () => link.signal.reason === problem && reject(problem))
        })
        try {
          await Promise.race([body(sink), cut])
        } finally {
          stopListening()
          this.#watches.delete(open)
          link[Symbol.dispose]()
        }
      },
    }
  }
}

/** The resource of a path, such as `/apis/apps/v1/namespaces/default/deployments/web/scale`. */
function targetOf(path: string): FaultTarget | undefined {
  const [, api, ...rest] = path.split('/')
  const group = api === 'apis' ? (rest.shift() ?? '') : ''
  if (api !== 'api' && api !== 'apis') return undefined
  const [, first, , third] = rest
  const plural = first === 'namespaces' && third !== undefined && !namespaceParts.has(third) ? third : first
  return plural === undefined || plural === '' ? undefined : { group, plural }
}

/** The subresources of a namespace itself. */
const namespaceParts = new Set(['status', 'finalize'])

const isWatch = ({ query }: ApiRequest): boolean => ['true', '1'].includes(query.get('watch') ?? '')

function failure({ method }: ApiRequest, { group, plural, status }: WriteFault): ApiResponse {
  const name = group === '' ? plural : `${plural}.${group}`
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `injected fault: ${method} of ${name} fails with ${status}`,
    reason: faultReasons[status],
    details: { group, kind: plural, ...(status === 429 ? { retryAfterSeconds: 1 } : {}) },
    code: status,
  }
  const retry = status === 429 ? { 'retry-after': '1' } : {}
  return {
    status,
    headers: { 'content-type': 'application/json', ...retry },
    body: Buffer.from(JSON.stringify(body)),
  }
}
