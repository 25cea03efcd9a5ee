import { drainMicrotasks, KubewrightError } from '@kubewright/base'
import type { Transport } from '@kubewright/client'

// One timer or one request of the test gives a controller no reason to change one object more often.
const writesPerObject = 1000
// Creations and lists share a path, and a test may have many objects.
const requestsPerPath = 50_000

/**
 * Counts the requests of controllers between two turns of the event loop. In process and in virtual time, a controller
 * that reconciles in a loop keeps the event loop from turning and time from passing, so that no deadline would end it.
 * Above the limit the meter reports the loop once, and lets the event loop turn before every further request.
 */
export class RequestMeter {
  readonly #report: (error: KubewrightError) => void
  readonly #counts = new Map<string, number>()
  #isHot = false

  constructor(report: (error: KubewrightError) => void) {
    this.#report = report
  }

  /** Starts the count again. Called at every turn of the event loop. */
  reset(): void {
    this.#counts.clear()
  }

  /** Wraps a transport to count its requests. `sender` names it in the error. */
  wrap(transport: Transport, sender: string): Transport {
    const { upgrade } = transport
    return {
      host: transport.host,
      send: async (request) => {
        if (this.#count(request.method, request.path, sender)) await drainMicrotasks()
        return transport.send(request)
      },
      ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    }
  }

  #count(method: string, path: string, sender: string): boolean {
    const request = `${method} ${path.replace(/\?.*/s, '')}`
    const count = (this.#counts.get(request) ?? 0) + 1
    this.#counts.set(request, count)
    const limit = method === 'GET' || method === 'POST' ? requestsPerPath : writesPerObject
    if (!this.#isHot && count > limit) {
      this.#isHot = true
      const message = `Hot loop: ${sender} sent "${request}" ${limit} times without time passing: write only values that have changed, and ignore changes of your own with a predicate`
      this.#report(new KubewrightError('KW_TEST_HOT_LOOP', message))
    }
    return this.#isHot
  }
}
