import type { AdmissionPlugin } from '../admission/admission.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import { isAbout } from './admission-forbidden.ts'
import { defaultClass } from './default-class.ts'

const ingressClasses = ['networking.k8s.io', 'v1', 'ingressclasses'] as const
const markers = ['ingressclass.kubernetes.io/is-default-class']

/** Sets the default class of ingresses without a class. */
export function defaultIngressClass(lookup: ObjectLookup): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    resources: ['networking.k8s.io/ingresses'],
    mutate: async (attributes) => {
      if (!isAbout(attributes, 'networking.k8s.io', 'ingresses') || attributes.operation !== 'CREATE') return
      const ingress = attributes.object!
      const spec = (ingress['spec'] ??= {}) as { ingressClassName?: string | undefined }
      if (spec.ingressClassName !== undefined) return
      if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return
      const found = defaultClass(await lookup.list(ingressClasses), markers)
      if (found) spec.ingressClassName = found.metadata.name!
    },
  }
}
