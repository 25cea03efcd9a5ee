import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type NodeLost = { readonly kind: 'node-lost'; readonly at: number; readonly delay: number; readonly for: number }

export const nodeLost: FaultDefinition<NodeLost> = defineFault<NodeLost>({
  kind: 'node-lost',
  class: 'pods',
  summary: 'the node vanishes with its pods',
  points: (at, { hasPods }) => (hasPods ? [{ kind: 'node-lost', at, delay: 20_000, for: 30_000 }] : []),
  duration: () => 0,
  describe: (fault, action) =>
    `the node vanishes with its pods, ${seconds(fault.delay)} after ${action}; a new one registers after ${seconds(fault.for)}`,
  inject(fault, { cluster, later, note }) {
    const lose = async (): Promise<void> => {
      note('cluster', 'The node vanishes with its pods')
      const restore = await cluster.loseNodes()
      later(fault.for, () => {
        note('cluster', 'A new node registers')
        void restore()
      })
    }
    later(fault.delay, () => void lose())
  },
  consequences: ['pods are deleted'],
})
