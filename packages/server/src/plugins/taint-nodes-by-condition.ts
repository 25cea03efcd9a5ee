import type { AdmissionPlugin } from '../admission/admission.ts'
import { isAbout } from './admission-forbidden.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** Taints new nodes as not ready, so that no pod is scheduled before the node reports its conditions. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  resources: ['/nodes'],
  mutate: async (attributes) => {
    if (!isAbout(attributes, '', 'nodes') || attributes.operation !== 'CREATE') return
    const node = attributes.object as {
      spec?: { taints?: { key?: string | undefined; effect?: string | undefined }[] | undefined } | undefined
    }
    const spec = (node.spec ??= {})
    const taints = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return
    spec.taints = [...taints, { ...notReady }]
  },
}
