import type { AdmissionPlugin } from '../admission/admission.ts'
import { isAbout } from './admission-forbidden.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** Keeps pods off a new node until somebody has seen that it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate: async (attributes) => {
    if (!isAbout(attributes, '', 'nodes') || attributes.operation !== 'CREATE') return
    const node = attributes.object as { spec?: { taints?: { key?: string; effect?: string }[] } }
    const spec = (node.spec ??= {})
    const taints = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return
    spec.taints = [...taints, { ...notReady }]
  },
}
