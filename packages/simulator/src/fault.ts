/** The classes of faults that a simulation injects, in the order in which they are explored. */
export const faultClasses = [
  'crash',
  'error',
  'watch',
  'stale',
  'others',
  'slow',
  'server',
  'webhooks',
  'pods',
  'leader',
  'clock',
  'quota',
] as const

/** A class of faults, as in the option `faults`. */
export type FaultClass = (typeof faultClasses)[number]

/**
 * A fault of one schedule. `at` is the number of an action of the operator, counted from 1: a request, except for watches,
 * Leases, Events and discovery, or a call to the world outside the cluster. Durations are in milliseconds of virtual
 * time.
 */
export type Fault =
  /** The process dies: before the request is sent, after the server has answered but before the answer arrives, or shortly after. */
  | {
      readonly kind: 'crash'
      readonly at: number
      readonly when: 'before' | 'after' | 'between'
      readonly downtime: number
    }
  /** Crashes after the request. The next process reads lists that allow a cached version from before the last changes. */
  | { readonly kind: 'stale'; readonly at: number; readonly changes: number; readonly lag: number }
  /** The server answers with an error and does nothing. */
  | { readonly kind: 'error'; readonly at: number; readonly status: number; readonly times: number }
  /** The connection is lost. With `effect`, the server has processed the request. */
  | { readonly kind: 'lost'; readonly at: number; readonly effect: boolean }
  /** The request takes longer, so that later requests overtake it. */
  | { readonly kind: 'slow'; readonly at: number; readonly by: number }
  /** Watches end. With `expired`, their resource version is too old, so that the operator lists again. */
  | { readonly kind: 'watch-cut'; readonly at: number; readonly expired: boolean }
  /** Watch events of one kind, or of all, arrive late. */
  | { readonly kind: 'watch-lag'; readonly at: number; readonly resource: string | undefined; readonly for: number }
  /** A user deletes or changes a child, some time after the action. `pick` selects the child. */
  | {
      readonly kind: 'child-deleted' | 'child-changed'
      readonly at: number
      readonly pick: number
      readonly delay: number
    }
  /** The API server is not reachable, and has an empty watch cache afterwards. */
  | { readonly kind: 'server-restart'; readonly at: number; readonly for: number }
  /** The operator's webhooks do not answer. */
  | { readonly kind: 'webhooks-down'; readonly at: number; readonly for: number }
  /** The containers of a pod crash, some time after the action. */
  | { readonly kind: 'pod-crash'; readonly at: number; readonly pick: number; readonly delay: number }
  /** The process gets no CPU. */
  | { readonly kind: 'pause'; readonly at: number; readonly for: number }
  /** The leader cannot reach its Lease. */
  | { readonly kind: 'lease-lost'; readonly at: number; readonly for: number }
  /** The wall time of the process jumps. */
  | { readonly kind: 'clock-jump'; readonly at: number; readonly by: number }
  /** The server refuses to create objects because a quota is exceeded. */
  | { readonly kind: 'quota'; readonly at: number; readonly for: number }

const seconds = (millis: number): string => (millis % 1000 === 0 ? `${millis / 1000} s` : `${millis} ms`)

/** Describes what a fault does, as the end of a sentence. `action` describes the action at which it happens. */
export function describeFault(fault: Fault, action: string): string {
  switch (fault.kind) {
    case 'crash': {
      const moment = {
        before: `before it sends ${action}`,
        after: `after the server has processed ${action}, before the answer arrives`,
        between: `right after ${action}`,
      }[fault.when]
      return `the operator crashes ${moment}, and starts again after ${seconds(fault.downtime)}`
    }
    case 'stale':
      return `the operator crashes right after ${action}; the next process reads lists from an API server that lacks the last ${fault.changes} changes for ${seconds(fault.lag)}`
    case 'error':
      return `the server answers ${action} with ${fault.status}${fault.times > 1 ? `, ${fault.times} times` : ''}, and does nothing`
    case 'lost':
      return `the connection is lost during ${action}, ${fault.effect ? 'after the server has processed it' : 'before it reaches the server'}`
    case 'slow':
      return `${action} takes ${seconds(fault.by)}`
    case 'watch-cut':
      return `all watches end${fault.expired ? ' and cannot resume, because their resource version is too old' : ''}, at ${action}`
    case 'watch-lag':
      return `watch events of ${fault.resource ?? 'all kinds'} arrive up to ${seconds(fault.for)} late, from ${action} on`
    case 'child-deleted':
      return `a user deletes a child, ${seconds(fault.delay)} after ${action}`
    case 'child-changed':
      return `a user changes a child, ${seconds(fault.delay)} after ${action}`
    case 'server-restart':
      return `the API server is down for ${seconds(fault.for)}, at ${action}`
    case 'webhooks-down':
      return `the webhooks of the operator do not answer for ${seconds(fault.for)}, from ${action} on`
    case 'pod-crash':
      return `the containers of a pod crash, ${seconds(fault.delay)} after ${action}`
    case 'pause':
      return `the process gets no CPU for ${seconds(fault.for)}, from ${action} on`
    case 'lease-lost':
      return `the leader cannot reach its Lease for ${seconds(fault.for)}, from ${action} on`
    case 'clock-jump':
      return `the wall time of the process jumps by ${seconds(fault.by)}, at ${action}`
    case 'quota':
      return `a quota refuses new objects for ${seconds(fault.for)}, from ${action} on`
  }
}

/** The class of a fault. */
export function classOf({ kind }: Fault): FaultClass {
  switch (kind) {
    case 'crash':
    case 'error':
    case 'slow':
    case 'stale':
    case 'quota':
      return kind
    case 'lost':
      return 'error'
    case 'watch-cut':
    case 'watch-lag':
      return 'watch'
    case 'child-deleted':
    case 'child-changed':
      return 'others'
    case 'server-restart':
      return 'server'
    case 'webhooks-down':
      return 'webhooks'
    case 'pod-crash':
      return 'pods'
    case 'pause':
    case 'lease-lost':
      return 'leader'
    case 'clock-jump':
      return 'clock'
  }
}
