import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type Slow = { readonly kind: 'slow'; readonly at: number; readonly by: number }

export const slow: FaultDefinition<Slow> = defineFault<Slow>({
  kind: 'slow',
  class: 'slow',
  summary: 'a request takes seconds, so that later ones overtake it',
  points: (at) => [{ kind: 'slow', at, by: 8000 }],
  duration: ({ by }) => by,
  describe: ({ by }, action) => `${action} takes ${seconds(by)}`,
  inject: ({ by }) => ({ slow: by }),
  mattersAtReads: () => true,
})
