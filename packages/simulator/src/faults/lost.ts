import { defineFault, type FaultDefinition } from '../define/define-fault.ts'

type Lost = { readonly kind: 'lost'; readonly at: number; readonly effect: boolean }

/** The connection is lost. With `effect`, the server has processed the request. */
export const lost: FaultDefinition<Lost> = defineFault<Lost>({
  kind: 'lost',
  class: 'error',
  summary: 'the connection is lost before or after the server has processed the request',
  points: (at) => [
    { kind: 'lost', at, effect: true },
    { kind: 'lost', at, effect: false },
  ],
  duration: () => 0,
  describe: ({ effect }, action) =>
    `the connection is lost during ${action}, ${effect ? 'after the server has processed it' : 'before it reaches the server'}`,
  inject: ({ effect }) => ({ lost: effect ? 'after' : 'before' }),
  mattersAtReads: ({ effect }) => !effect,
})
