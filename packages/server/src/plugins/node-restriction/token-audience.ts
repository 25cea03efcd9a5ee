import { newNotFound } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import type { CSIDriver, PersistentVolume, PersistentVolumeClaim, Pod } from '@kubewright/k8s'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import { type Authorizer, resourceAttributes } from '../../auth/authorizer.ts'
import type { ObjectLookup, ResourceName, SharedObject } from '../../registry/object-lookup.ts'
import { aggregateMessages } from '../../request/aggregate-messages.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]
/** The in-tree sources of pods and persistent volumes, by the CSI driver that serves them now (k8s.io/csi-translation-lib). */
const migratedDrivers = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
} as const

/**
 * Why a kubelet may not request a token for these audiences; undefined when it may. The pod must mount a token for the audience, use a
 * CSI driver that requests tokens for it, or the node must have the verb request-serviceaccounts-token-audience on it.
 */
export async function tokenAudienceProblem(
  parts: { readonly lookup: ObjectLookup; readonly authorizer: Authorizer },
  pod: Pod,
  audiences: readonly string[],
  { context, namespace, name }: AdmissionAttributes,
): Promise<string | undefined> {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences'
  const [audience = ''] = audiences
  const errors: string[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const mounts = (volume.projected?.sources ?? []).some(
      ({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience,
    )
    if (mounts || (await driverRequests(parts.lookup, pod, volume, audience, errors))) return undefined
  }
  if (errors.length > 0) return `error validating audience ${goQuote(audience)}: ${aggregateMessages(errors)}`
  const about = { verb: 'request-serviceaccounts-token-audience', group: '', version: 'v1', resource: audience }
  const { user } = context
  const { allowed } = await parts.authorizer.authorize(resourceAttributes(user, { ...about, namespace, name }))
  if (allowed) return undefined
  return `audience ${goQuote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`
}

/** Whether the CSI driver of the volume requests tokens for the audience. Adds missing objects to `errors`. */
async function driverRequests(
  lookup: ObjectLookup,
  pod: Pod,
  volume: Volume,
  audience: string,
  errors: string[],
): Promise<boolean> {
  const need = async (name: ResourceName, namespace: string, object: string, singular: string) => {
    const found = await lookup.find(name, namespace, object)
    if (!found) errors.push(newNotFound({ group: name[0], resource: singular }, object).message)
    return found as SharedObject | undefined
  }
  const claimName = volume.ephemeral?.volumeClaimTemplate
    ? `${pod.metadata.name}-${volume.name}`
    : volume.persistentVolumeClaim?.claimName
  let driver = volume.csi?.driver ?? migratedDriver(volume)
  if (claimName !== undefined) {
    const claim = (await need(
      ['', 'v1', 'persistentvolumeclaims'],
      pod.metadata.namespace ?? '',
      claimName,
      'persistentvolumeclaim',
    )) as unknown as PersistentVolumeClaim | undefined
    if (!claim) return false
    const bound = (await need(
      ['', 'v1', 'persistentvolumes'],
      '',
      claim.spec?.volumeName ?? '',
      'persistentvolume',
    )) as unknown as PersistentVolume | undefined
    if (!bound) return false
    driver = bound.spec?.csi?.driver ?? migratedDriver(bound.spec ?? {})
  }
  if (driver === undefined) return false
  const found = (await need(['storage.k8s.io', 'v1', 'csidrivers'], '', driver, 'csidriver')) as unknown as
    | CSIDriver
    | undefined
  return (found?.spec?.tokenRequests ?? []).some((request) => request.audience === audience)
}

function migratedDriver(source: object): string | undefined {
  const found = Object.entries(migratedDrivers).find(([field]) => field in source)
  return found?.[1]
}
