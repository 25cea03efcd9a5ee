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
  'permissions',
  'volumes',
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
  /**
   * Crashes after the request. The next process reads lists that allow a cached version from before the last changes, of
   * one resource or all. Without `changes`, from before the last operation of the user.
   */
  | {
      readonly kind: 'stale'
      readonly at: number
      readonly changes?: number | undefined
      readonly lag: number
      readonly resource?: string | undefined
    }
  /** The server answers with an error and does nothing. */
  | { readonly kind: 'error'; readonly at: number; readonly status: number; readonly times: number }
  /** The connection is lost. With `effect`, the server has processed the request. */
  | { readonly kind: 'lost'; readonly at: number; readonly effect: boolean }
  /** The request takes longer, so that later requests overtake it. */
  | { readonly kind: 'slow'; readonly at: number; readonly by: number }
  /** Watches end. With `expired`, their resource version is too old, so that the operator lists again. */
  | { readonly kind: 'watch-cut'; readonly at: number; readonly expired: boolean }
  /**
   * Watches end and cannot start again for some time. Their resource version is too old then, so that the operator does
   * not see the states in between.
   */
  | { readonly kind: 'watch-gap'; readonly at: number; readonly for: number }
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
  /** Containers are not ready. Without `for`, until the end of the run. */
  | { readonly kind: 'pods-unready'; readonly at: number; readonly for: number | undefined }
  /** New pods are not scheduled. */
  | { readonly kind: 'pods-pending'; readonly at: number; readonly for: number }
  /** The node vanishes with its pods, some time after the action. A new one registers later. */
  | { readonly kind: 'node-lost'; readonly at: number; readonly delay: number; readonly for: number }
  /** New volumes are not provisioned. */
  | { readonly kind: 'volumes-pending'; readonly at: number; readonly for: number }
  /** The process gets no CPU. */
  | { readonly kind: 'pause'; readonly at: number; readonly for: number }
  /** The leader cannot reach its Lease. */
  | { readonly kind: 'lease-lost'; readonly at: number; readonly for: number }
  /** The wall time of the process jumps. */
  | { readonly kind: 'clock-jump'; readonly at: number; readonly by: number }
  /** The server refuses to create objects because a quota is exceeded. */
  | { readonly kind: 'quota'; readonly at: number; readonly for: number }
  /** The operator lacks its permissions for one resource. */
  | { readonly kind: 'forbidden'; readonly at: number; readonly for: number }

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
    case 'stale': {
      const lacking = fault.changes === undefined ? 'the last operation' : `the last ${fault.changes} changes`
      return `the operator crashes right after ${action}; the next process reads lists of ${fault.resource ?? 'all kinds'} from an API server that lacks ${lacking} for ${seconds(fault.lag)}`
    }
    case 'error':
      if (fault.status === 409)
        return `another writer is faster than ${action}; a request without a version fails with 500`
      return `the server answers ${action} with ${fault.status}${fault.times > 1 ? `, ${fault.times} times` : ''}, and does nothing`
    case 'lost':
      return `the connection is lost during ${action}, ${fault.effect ? 'after the server has processed it' : 'before it reaches the server'}`
    case 'slow':
      return `${action} takes ${seconds(fault.by)}`
    case 'watch-cut':
      return `all watches end${fault.expired ? ' and cannot resume, because their resource version is too old' : ''}, at ${action}`
    case 'watch-lag':
      return `watch events of ${fault.resource ?? 'all kinds'} arrive up to ${seconds(fault.for)} late, from ${action} on`
    case 'watch-gap':
      return `all watches end and cannot start again for ${seconds(fault.for)}, at ${action}`
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
    case 'pods-unready': {
      const end = fault.for === undefined ? 'until the end' : `for ${seconds(fault.for)}`
      return `no pod is ready ${end}, from ${action} on`
    }
    case 'pods-pending':
      return `new pods stay pending for ${seconds(fault.for)}, from ${action} on`
    case 'node-lost':
      return `the node vanishes with its pods, ${seconds(fault.delay)} after ${action}; a new one registers after ${seconds(fault.for)}`
    case 'volumes-pending':
      return `new volumes stay pending for ${seconds(fault.for)}, from ${action} on`
    case 'pause':
      return `the process gets no CPU for ${seconds(fault.for)}, from ${action} on`
    case 'lease-lost':
      return `the leader cannot reach its Lease for ${seconds(fault.for)}, from ${action} on`
    case 'clock-jump':
      return `the wall time of the process jumps by ${seconds(fault.by)}, at ${action}`
    case 'quota':
      return `a quota refuses new objects for ${seconds(fault.for)}, from ${action} on`
    case 'forbidden':
      return `the operator lacks the permissions for this resource for ${seconds(fault.for)}, from ${action} on`
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
    case 'watch-gap':
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
    case 'pods-unready':
    case 'pods-pending':
    case 'node-lost':
      return 'pods'
    case 'volumes-pending':
      return 'volumes'
    case 'forbidden':
      return 'permissions'
    case 'pause':
    case 'lease-lost':
      return 'leader'
    case 'clock-jump':
      return 'clock'
  }
}

/** Whether a fault never ends. The end state of such a run has no expected value. */
export const isLasting = (fault: Fault): boolean => fault.kind === 'pods-unready' && fault.for === undefined

/**
 * Whether a fault may lead to another end state: one that never ends, and a jump of the clock beyond the deadlines of the
 * operator.
 */
export const hasOwnEnd = (fault: Fault): boolean => isLasting(fault) || (fault.kind === 'clock-jump' && fault.by > 0)
