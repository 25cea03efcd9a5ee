import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type ServerRestart = { readonly kind: 'server-restart'; readonly at: number; readonly for: number }

export const serverRestart: FaultDefinition<ServerRestart> = defineFault<ServerRestart>({
  kind: 'server-restart',
  class: 'server',
  summary: 'the API server is down, and has an empty watch cache afterwards',
  points: (at) => [{ kind: 'server-restart', at, for: 5000 }],
  duration: (fault) => fault.for,
  describe: (fault, action) => `the API server is down for ${seconds(fault.for)}, at ${action}`,
  inject(fault, { network }) {
    network.disconnect(fault.for, 'ECONNREFUSED')
    network.cutWatches(true)
  },
})
