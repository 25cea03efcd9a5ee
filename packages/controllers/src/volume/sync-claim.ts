import { CaughtError } from '@kubewright/base'
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@kubewright/k8s'
import type { KeyContext } from '@kubewright/runtime'
import { writeStatus } from '../workload/write-status.ts'
import { bindCompleted, bindVolume, boundByController } from './bind-volume.ts'
import { claimsOf } from './claims-of-pod.ts'
import { classOfClaim, isBoundTo, matchVolume, mismatch } from './match-volume.ts'
import { provisionVolume } from './provision-volume.ts'

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class'
const oldDefaultClassAnnotation = 'storageclass.beta.kubernetes.io/is-default-class'

/** Binds a claim to a volume, provisions one if necessary, and detects lost volumes. */
export async function syncClaim(claim: PersistentVolumeClaim, context: KeyContext): Promise<void> {
  const { client } = context
  if (claim.metadata.annotations?.[bindCompleted] !== undefined) return syncBound(claim, context)
  const { volumeName = '' } = claim.spec ?? {}
  if (volumeName === '') return search(claim, context)
  const volume = await client.find(PersistentVolume, volumeName)
  if (volume === undefined) return setPending(claim, context)
  if (isBoundTo(volume, claim)) return bindVolume(client, volume, claim)
  if (volume.spec?.claimRef !== undefined) {
    tell(
      claim,
      context,
      'Warning',
      'FailedBinding',
      `volume ${JSON.stringify(volumeName)} already bound to a different claim.`,
    )
    if (claim.metadata.annotations?.[boundByController] === undefined) return setPending(claim, context)
    const { namespace, name } = volume.spec.claimRef
    const [own, other] = [`${claim.metadata.namespace}/${claim.metadata.name}`, `${namespace}/${name}`].map((key) =>
      JSON.stringify(key),
    )
    throw new CaughtError(
      `invalid binding of claim ${own} to volume ${JSON.stringify(volumeName)}: volume already claimed by ${other}`,
    )
  }
  const problem = mismatch(volume, claim)
  if (problem === undefined) return bindVolume(client, volume, claim)
  const message = `Cannot bind to requested volume ${JSON.stringify(volumeName)}: ${problem}`
  tell(claim, context, 'Warning', 'VolumeMismatch', message)
  return setPending(claim, context)
}

async function search(claim: PersistentVolumeClaim, context: KeyContext): Promise<void> {
  const { client } = context
  const className = classOfClaim(claim)
  const storageClass = className === '' ? undefined : await client.find(StorageClass, className)
  const delayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && !(await isUsed(claim, context))
  const volume = matchVolume(claim, await client.list(PersistentVolume), delayed)
  if (volume !== undefined) return bindVolume(client, volume, claim)
  if (claim.spec?.storageClassName === undefined && className === '') {
    const preferred = defaultClass(await client.list(StorageClass))
    if (preferred !== undefined) {
      // The update requeues the claim.
      await client.update({ ...claim, spec: { ...claim.spec, storageClassName: preferred.metadata.name } })
      return
    }
  }
  if (delayed) {
    const message = 'waiting for first consumer to be created before binding'
    tell(claim, context, 'Normal', 'WaitForFirstConsumer', message)
  } else if (className !== '') {
    return provisionVolume(claim, storageClass, context)
  } else {
    const message = 'no persistent volumes available for this claim and no storage class is set'
    tell(claim, context, 'Normal', 'FailedBinding', message)
  }
  return setPending(claim, context)
}

/**
 * Whether a pod uses the claim. The scheduler does not place volumes, so any pod that names the claim counts as its
 * first consumer.
 */
async function isUsed({ metadata }: PersistentVolumeClaim, { client }: KeyContext): Promise<boolean> {
  const { namespace = '', name } = metadata
  return (await client.list(Pod, { namespace })).some((pod) => claimsOf(pod).includes(`${namespace}/${name}`))
}

/** The newest of the default storage classes. */
function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const marked = classes.filter(({ metadata: { annotations } }) =>
    [defaultClassAnnotation, oldDefaultClassAnnotation].some((name) => annotations?.[name] === 'true'),
  )
  marked.sort((a, b) => {
    const [one, two] = [a.metadata, b.metadata]
    if (one.creationTimestamp !== two.creationTimestamp) return one.creationTimestamp < two.creationTimestamp ? 1 : -1
    return one.name < two.name ? -1 : 1
  })
  return marked[0]
}

async function syncBound(claim: PersistentVolumeClaim, context: KeyContext): Promise<void> {
  const { client } = context
  const { volumeName = '' } = claim.spec ?? {}
  const volume = volumeName === '' ? undefined : await client.find(PersistentVolume, volumeName)
  if (volume === undefined) {
    const what = volumeName === '' ? 'reference to PersistentVolume' : 'its PersistentVolume'
    return setLost(claim, context, 'ClaimLost', `Bound claim has lost ${what}. Data on the volume is lost!`)
  }
  const { uid } = volume.spec?.claimRef ?? {}
  if (volume.spec?.claimRef === undefined || uid === claim.metadata.uid) return bindVolume(client, volume, claim)
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly'
  return setLost(claim, context, 'ClaimMisbound', message)
}

async function setPending(claim: PersistentVolumeClaim, { client }: KeyContext): Promise<void> {
  const { accessModes: _a, capacity: _c, ...status } = claim.status ?? {}
  await writeStatus(client, PersistentVolumeClaim, claim, { ...status, phase: 'Pending' })
}

async function setLost(
  claim: PersistentVolumeClaim,
  context: KeyContext,
  reason: string,
  message: string,
): Promise<void> {
  if (claim.status?.phase === 'Lost') return
  const { accessModes: _a, capacity: _c, ...status } = claim.status ?? {}
  await writeStatus(context.client, PersistentVolumeClaim, claim, { ...status, phase: 'Lost' })
  tell(claim, context, 'Warning', reason, message)
}

function tell(
  claim: PersistentVolumeClaim,
  { events }: KeyContext,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  events.record(claim, { type, reason, message })
}
