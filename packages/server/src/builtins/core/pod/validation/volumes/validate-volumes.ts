import { goQuote, nameIsDNSSubdomain } from '@kubewright/base'
import { duplicate, type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableMeta } from '../../../../../resource/object.ts'
import {
  addInvalid,
  checkCsiDriverName,
  checkDescendingPath,
  checkEnum,
  checkFileMode,
  checkLabel,
} from '../../../../checks/field-checks.ts'
import { validatePersistentVolumeClaimTemplate } from '../../../persistent-volume-claim/validate-claim-spec.ts'
import { type VendorSource, validateVendorSource } from '../../../volume-sources/validate-vendor-source.ts'
import {
  initiatorTooLong,
  isInitiatorTooLong,
  noSource,
  secondSource,
  validateHostPath,
} from '../../../volume-sources/volume-source.ts'
import type { Volume } from '../../pod-types.ts'
import { quantityOf } from '../../resources/resource-list.ts'
import { validateProjectedVolume } from './validate-projected-volume.ts'
import { validateDownwardItem, validateKeyedSource } from './validate-volume-files.ts'

/** The pod that the volumes belong to. */
interface VolumeContext {
  /** Metadata of the pod; undefined for a pod template. */
  readonly podMeta: MutableMeta | undefined
  readonly isPod: boolean
}

type Check = (volume: Volume, path: FieldPath, errors: FieldError[], context: VolumeContext) => void
type Source = Exclude<keyof Volume, 'name'>

/** A check of a vendor's source, which gets the path of the volume. */
const vendor =
  (name: VendorSource): Check =>
  (volume, path, errors) =>
    validateVendorSource(name, volume, path, errors)

/**
 * The checks of the sources. The order of the entries decides which of several sources is checked; the others are reported as surplus
 * in this order.
 */
const sources: Readonly<Record<Source, Check>> = {
  emptyDir: ({ emptyDir }, path, errors) => {
    const limit = emptyDir?.sizeLimit
    if (limit === undefined || quantityOf(limit).sign >= 0) return
    errors.push(forbidden(path.child('emptyDir', 'sizeLimit'), 'SizeLimit field must be a valid resource quantity'))
  },
  hostPath: ({ hostPath }, path, errors) => validateHostPath(hostPath!, path.child('hostPath'), errors),
  gitRepo: ({ gitRepo }, path, errors) => {
    if (!gitRepo?.repository) errors.push(required(path.child('gitRepo', 'repository')))
    checkDescendingPath(errors, path.child('gitRepo', 'directory'), gitRepo?.directory ?? '')
  },
  gcePersistentDisk: vendor('gcePersistentDisk'),
  awsElasticBlockStore: vendor('awsElasticBlockStore'),
  secret: ({ secret }, path, errors) => {
    if (!secret?.secretName) errors.push(required(path.child('secret', 'secretName')))
    validateKeyedSource(secret!, path.child('secret'), errors)
  },
  nfs: vendor('nfs'),
  iscsi: vendor('iscsi'),
  glusterfs: vendor('glusterfs'),
  flocker: vendor('flocker'),
  persistentVolumeClaim: ({ persistentVolumeClaim }, path, errors) => {
    if (!persistentVolumeClaim?.claimName) errors.push(required(path.child('persistentVolumeClaim', 'claimName')))
  },
  rbd: vendor('rbd'),
  cinder: vendor('cinder'),
  cephfs: vendor('cephfs'),
  quobyte: vendor('quobyte'),
  downwardAPI: ({ downwardAPI }, path, errors) => {
    const at = path.child('downwardAPI')
    checkFileMode(errors, at.child('defaultMode'), downwardAPI?.defaultMode)
    for (const item of downwardAPI?.items ?? []) validateDownwardItem(item, at, errors)
  },
  fc: vendor('fc'),
  flexVolume: vendor('flexVolume'),
  configMap: ({ configMap }, path, errors) => {
    if (!configMap?.name) errors.push(required(path.child('configMap', 'name')))
    validateKeyedSource(configMap!, path.child('configMap'), errors)
  },
  azureFile: vendor('azureFile'),
  vsphereVolume: vendor('vsphereVolume'),
  photonPersistentDisk: vendor('photonPersistentDisk'),
  portworxVolume: vendor('portworxVolume'),
  azureDisk: vendor('azureDisk'),
  storageos: vendor('storageos'),
  projected: ({ projected }, path, errors) => validateProjectedVolume(projected!, path.child('projected'), errors),
  scaleIO: vendor('scaleIO'),
  csi: ({ csi }, path, errors) => validateCsi(csi!, path.child('csi'), errors),
  ephemeral: validateEphemeral,
  image: ({ image }, path, errors, { isPod }) => {
    const at = path.child('image')
    if (isPod && !image?.reference) errors.push(required(at.child('reference')))
    checkEnum(errors, at.child('pullPolicy'), image?.pullPolicy, ['Always', 'IfNotPresent', 'Never'], true)
  },
}

const sourceChecks = Object.entries(sources)

/** Checks the volumes of a pod. Returns the valid ones by name, for the checks of volume mounts. */
export function validateVolumes(
  volumes: readonly Volume[],
  podMeta: MutableMeta | undefined,
  isPod: boolean,
  path: FieldPath,
  errors: FieldError[],
): Map<string, Volume> {
  const usable = new Map<string, Volume>()
  const created = new Set<string>()
  if (podMeta?.name) for (const { name, ephemeral } of volumes) if (ephemeral) created.add(`${podMeta.name}-${name}`)
  for (const [i, volume] of volumes.entries()) {
    const at = path.index(i)
    const before = errors.length
    validateSource(volume, at, errors, { podMeta, isPod })
    const name = volume.name ?? ''
    if (name === '') errors.push(required(at.child('name')))
    else checkLabel(errors, at.child('name'), name)
    if (usable.has(name)) errors.push(duplicate(at.child('name'), name))
    if (errors.length === before) usable.set(name, volume)
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim !== undefined && created.has(claim)) {
      const text = 'must not reference a PVC that gets created for an ephemeral volume'
      errors.push(invalid(at.child('persistentVolumeClaim', 'claimName'), claim, text))
    }
  }
  return usable
}

function validateSource(volume: Volume, path: FieldPath, errors: FieldError[], context: VolumeContext): void {
  let found = false
  for (const [name, check] of sourceChecks) {
    if (volume[name as Source] == null) continue
    if (found) errors.push(secondSource(path, name))
    else check(volume, path, errors, context)
    found = true
    if (name === 'iscsi' && isInitiatorTooLong(volume.name, volume.iscsi!)) {
      errors.push(invalid(path.child('name'), volume.name ?? '', initiatorTooLong))
    }
  }
  if (!found) errors.push(noSource(path))
}

function validateCsi(csi: NonNullable<Volume['csi']>, path: FieldPath, errors: FieldError[]): void {
  checkCsiDriverName(errors, path.child('driver'), csi.driver)
  if (!csi.nodePublishSecretRef) return
  const name = csi.nodePublishSecretRef.name ?? ''
  if (name === '') errors.push(required(path.child('nodePublishSecretRef', 'name')))
  else addInvalid(errors, path.child('name'), name, nameIsDNSSubdomain(name, false))
}

function validateEphemeral(volume: Volume, path: FieldPath, errors: FieldError[], { podMeta }: VolumeContext): void {
  const at = path.child('ephemeral', 'volumeClaimTemplate')
  const template = volume.ephemeral?.volumeClaimTemplate
  if (!template) errors.push(required(at))
  else validatePersistentVolumeClaimTemplate(template, at, errors)
  if (!podMeta?.name || !volume.name) return
  const claim = `${podMeta.name}-${volume.name}`
  for (const text of nameIsDNSSubdomain(claim, false)) {
    errors.push(invalid(path.child('name'), volume.name, `PVC name ${goQuote(claim)}: ${text}`))
  }
}
