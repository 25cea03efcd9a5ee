import type { AdmissionPlugin } from '../admission/admission.ts'
import { quantityOf } from '../builtins/core/pod/resources/resource-list.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'
import { admissionForbidden, isAbout } from './admission-forbidden.ts'
import { storageClassAnnotation } from './default-storage-class.ts'

const storageClasses = ['storage.k8s.io', 'v1', 'storageclasses'] as const

/** The fields of a claim that the plugin reads. */
interface Claim {
  readonly spec?:
    | {
        readonly storageClassName?: string | undefined
        readonly resources?: { readonly requests?: Readonly<Record<string, string>> | undefined } | undefined
      }
    | undefined
  readonly status?: { readonly phase?: string | undefined } | undefined
}

/** Allows a claim to grow only when it is bound and its storage class allows expansion. */
export function persistentVolumeClaimResize(lookup: ObjectLookup): AdmissionPlugin {
  const expandable = async (object: MutableObject, old: MutableObject): Promise<boolean> => {
    const name = classOf(object)
    if (name === '' || name !== classOf(old)) return false
    return (await lookup.find(storageClasses, '', name))?.['allowVolumeExpansion'] === true
  }
  return {
    name: 'PersistentVolumeClaimResize',
    resources: ['/persistentvolumeclaims'],
    validate: async (attributes) => {
      const { object, old, operation } = attributes
      if (!isAbout(attributes, '', 'persistentvolumeclaims') || operation !== 'UPDATE' || !object || !old) return
      if (sizeOf(object).cmp(sizeOf(old)) <= 0) return
      if ((old as Claim).status?.phase !== 'Bound') {
        throw admissionForbidden(attributes, 'Only bound persistent volume claims can be expanded')
      }
      if (await expandable(object, old)) return
      throw admissionForbidden(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      )
    },
  }
}

function sizeOf(claim: MutableObject): ReturnType<typeof quantityOf> {
  return quantityOf((claim as Claim).spec?.resources?.requests?.['storage'])
}

function classOf(claim: MutableObject): string {
  return claim.metadata.annotations?.[storageClassAnnotation] ?? (claim as Claim).spec?.storageClassName ?? ''
}
