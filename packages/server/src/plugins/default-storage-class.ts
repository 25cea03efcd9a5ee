import type { AdmissionPlugin } from '../admission/admission.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import { isAbout } from './admission-forbidden.ts'
import { defaultClass } from './default-class.ts'

const storageClasses = ['storage.k8s.io', 'v1', 'storageclasses'] as const
const markers = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

/** The annotation with the storage class of a claim, which predates the field. */
export const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** Sets the default storage class of claims without a class. */
export function defaultStorageClass(lookup: ObjectLookup): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    resources: ['/persistentvolumeclaims'],
    mutate: async (attributes) => {
      if (!isAbout(attributes, '', 'persistentvolumeclaims') || attributes.operation !== 'CREATE') return
      const claim = attributes.object!
      const spec = (claim['spec'] ??= {}) as { storageClassName?: string | undefined }
      if (spec.storageClassName !== undefined || claim.metadata.annotations?.[storageClassAnnotation] !== undefined)
        return
      const found = defaultClass(await lookup.list(storageClasses), markers)
      if (found) spec.storageClassName = found.metadata.name!
    },
  }
}
