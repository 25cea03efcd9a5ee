import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type Quota = { readonly kind: 'quota'; readonly at: number; readonly for: number }

const refusal = {
  status: 403,
  message: 'exceeded quota: simulated, requested: count/objects=1, used: count/objects=9, limited: count/objects=9',
}

export const quota: FaultDefinition<Quota> = defineFault<Quota>({
  kind: 'quota',
  class: 'quota',
  summary: 'a quota refuses new objects',
  points: (at) => [{ kind: 'quota', at, for: 10_000 }],
  duration: (fault) => fault.for,
  describe: (fault, action) => `a quota refuses new objects for ${seconds(fault.for)}, from ${action} on`,
  inject: (fault, { network }) =>
    network.refuse(fault.for, ({ isWork, isCreation }) => (isWork && isCreation ? refusal : undefined)),
})
