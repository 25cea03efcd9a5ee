import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type ClockJump = { readonly kind: 'clock-jump'; readonly at: number; readonly by: number }

export const clockJump: FaultDefinition<ClockJump> = defineFault<ClockJump>({
  kind: 'clock-jump',
  class: 'clock',
  summary: 'the wall time of the operator jumps forward or back, and with it `Date` in `world`',
  points: (at) => [
    { kind: 'clock-jump', at, by: 3_600_000 },
    { kind: 'clock-jump', at, by: -60_000 },
  ],
  duration: () => 0,
  describe: ({ by }, action) => `the wall time of the process jumps by ${seconds(by)}, at ${action}`,
  inject: ({ by }, { process }) => process.shiftTime(by),
  // The deadlines of the operator pass.
  hasOwnEnd: ({ by }) => by > 0,
  consequences: ['time jumps'],
})
