import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type PodCrash = { readonly kind: 'pod-crash'; readonly at: number; readonly pick: number; readonly delay: number }

export const podCrash: FaultDefinition<PodCrash> = defineFault<PodCrash>({
  kind: 'pod-crash',
  class: 'pods',
  summary: 'the containers of a pod crash',
  points: (at, { hasPods }) => (hasPods ? [{ kind: 'pod-crash', at, pick: at, delay: 10_000 }] : []),
  duration: () => 0,
  describe: ({ delay }, action) => `the containers of a pod crash, ${seconds(delay)} after ${action}`,
  inject: ({ pick, delay }, { cluster, later }) => later(delay, () => void cluster.crashPod(pick)),
})
