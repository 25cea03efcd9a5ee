import { defineFault, type FaultDefinition } from '../define/define-fault.ts'

type ErrorFault = { readonly kind: 'error'; readonly at: number; readonly status: number; readonly times: number }

/** The server answers with an error and does nothing. */
export const error: FaultDefinition<ErrorFault> = defineFault<ErrorFault>({
  kind: 'error',
  class: 'error',
  summary:
    'another writer is faster, so that a write of an old version fails with 409; a request fails with 429, 500 or 503',
  points: (at) => [
    { kind: 'error', at, status: 500, times: 1 },
    { kind: 'error', at, status: 409, times: 1 },
    { kind: 'error', at, status: 503, times: 3 },
    { kind: 'error', at, status: 429, times: 1 },
  ],
  duration: () => 0,
  describe({ status, times }, action) {
    if (status === 409) return `another writer is faster than ${action}; a request without a version fails with 500`
    return `the server answers ${action} with ${status}${times > 1 ? `, ${times} times` : ''}, and does nothing`
  },
  inject({ status }, { request }) {
    if (status !== 409) return { status }
    return request?.verb === 'update' || request?.verb === 'patch' ? { isConflict: true } : { status: 500 }
  },
  lastAction: ({ at, times }) => at + times - 1,
  mattersAtReads: () => true,
  simpler: (fault) => (fault.times > 1 ? { ...fault, times: 1 } : undefined),
})
