import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type VolumesPending = { readonly kind: 'volumes-pending'; readonly at: number; readonly for: number }

export const volumesPending: FaultDefinition<VolumesPending> = defineFault<VolumesPending>({
  kind: 'volumes-pending',
  class: 'volumes',
  summary: 'new volumes are not provisioned for a while',
  points: (at, { hasVolumes }) => (hasVolumes ? [{ kind: 'volumes-pending', at, for: 60_000 }] : []),
  duration: (fault) => fault.for,
  describe: (fault, action) => `new volumes stay pending for ${seconds(fault.for)}, from ${action} on`,
  inject(fault, { cluster, lasts, later }) {
    const stop = async (): Promise<void> => {
      const restore = await cluster.stopProvisioning()
      later(fault.for, () => void restore())
    }
    void stop()
    lasts(fault.for + 1000)
  },
})
