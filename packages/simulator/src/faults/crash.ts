import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type Crash = {
  readonly kind: 'crash'
  readonly at: number
  readonly when: 'before' | 'after' | 'between'
  readonly downtime: number
}

/** The process dies: before the request is sent, after the server has answered but before the answer arrives, or shortly after. */
export const crash: FaultDefinition<Crash> = defineFault<Crash>({
  kind: 'crash',
  class: 'crash',
  summary:
    'the operator dies before a request is sent, after the server has processed it, or right after the answer; it starts again',
  points: (at) => [
    { kind: 'crash', at, when: 'before', downtime: 0 },
    { kind: 'crash', at, when: 'after', downtime: 0 },
    { kind: 'crash', at, when: 'between', downtime: 30_000 },
  ],
  duration: ({ downtime }) => downtime,
  describe({ when, downtime }, action) {
    const moment = {
      before: `before it sends ${action}`,
      after: `after the server has processed ${action}, before the answer arrives`,
      between: `right after ${action}`,
    }[when]
    return `the operator crashes ${moment}, and starts again after ${seconds(downtime)}`
  },
  inject({ when, downtime }, { process, lasts }) {
    process.restartAfterCrash(downtime)
    // The crash happens within the round trip of the request.
    lasts(downtime + 1000)
    return { crash: when }
  },
  mattersAtReads: ({ when }) => when === 'before',
  // A new process that works on an old object has lost its memory.
  penalty: ({ downtime }, place) => (downtime > 0 ? (place === 'during' ? 0 : 2) : place === 'last' ? 0 : 2),
  simpler: (fault) => (fault.downtime > 0 ? { ...fault, downtime: 0 } : undefined),
})
