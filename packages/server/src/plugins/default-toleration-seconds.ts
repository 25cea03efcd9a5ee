import type { AdmissionPlugin } from '../admission/admission.ts'
import type { PodLike } from '../builtins/core/pod/pod-types.ts'
import { isAbout } from './admission-forbidden.ts'

const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const
const seconds = 300

/**
 * Adds tolerations to pods that keep them for five minutes on nodes that are not ready or unreachable, unless the pod has its own.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  resources: ['/pods'],
  mutate: async (attributes) => {
    const { operation } = attributes
    if (!isAbout(attributes, '', 'pods') || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const spec = ((attributes.object as PodLike).spec ??= {})
    const given = spec.tolerations ?? []
    const missing = taints.filter(
      (taint) => !given.some(({ key, effect }) => (!key || key === taint) && (!effect || effect === 'NoExecute')),
    )
    if (missing.length === 0) return
    spec.tolerations = [
      ...given,
      ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds })),
    ]
  },
}
