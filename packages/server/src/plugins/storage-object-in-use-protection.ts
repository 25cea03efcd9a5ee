import type { AdmissionPlugin } from '../admission/admission.ts'

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
}

/** Adds the finalizer that protects volumes, claims and volume attributes classes while they are in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  resources: Object.keys(finalizers),
  mutate: async ({ resource, subresource, operation, object }) => {
    if (operation !== 'CREATE' || subresource !== '' || !object) return
    const finalizer = finalizers[`${resource.kind.group}/${resource.kind.plural}`]
    if (finalizer === undefined) return
    const given = object.metadata.finalizers ?? []
    if (!given.includes(finalizer)) object.metadata.finalizers = [...given, finalizer]
  },
}
