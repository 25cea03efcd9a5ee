import type { DeepReadonly } from '@kubewright/base'
import type { ConfigMap, Container, PersistentVolumeClaim, Pod, Secret, Volume } from '@kubewright/k8s'

/** Reads the objects that a pod refers to, all in the namespace of the pod. */
export interface InputReader {
  configMap(name: string): Promise<ConfigMap | undefined>
  secret(name: string): Promise<Secret | undefined>
  claim(name: string): Promise<PersistentVolumeClaim | undefined>
}

/** The objects that a pod lacks. */
export interface MissingInputs {
  /** Messages of Events about volumes that cannot be mounted. With any, no container of the pod starts. */
  readonly mounts: readonly string[]
  /** The reason why a container cannot be created, by container. */
  readonly containers: ReadonlyMap<string, string>
}

// The volume of the service account. Its ConfigMap exists only in control planes that publish their CA certificate.
const accountVolume = 'kube-api-access-'

const noInputs: MissingInputs = { mounts: [], containers: new Map() }

/** Whether the pod refers to any object that {@link findMissingInputs} would read. */
export function hasInputs({ spec }: Pod): boolean {
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  return (
    (spec.volumes ?? []).some(isInput) ||
    containers.some(({ env, envFrom }) => env?.some(isReference) || envFrom?.length)
  )
}

const isReference = ({ valueFrom }: NonNullable<DeepReadonly<Container>['env']>[number]): boolean =>
  valueFrom?.configMapKeyRef !== undefined || valueFrom?.secretKeyRef !== undefined

function isInput({
  configMap,
  ephemeral,
  name,
  persistentVolumeClaim,
  projected,
  secret,
}: DeepReadonly<Volume>): boolean {
  if (name.startsWith(accountVolume)) return false
  return [configMap, ephemeral, persistentVolumeClaim, projected, secret].some((source) => source !== undefined)
}

/** Finds the ConfigMaps, Secrets, keys and claims that a pod requires and that do not exist, with kubelet's messages. */
export async function findMissingInputs(pod: Pod, reader: InputReader): Promise<MissingInputs> {
  if (!hasInputs(pod)) return noInputs
  const mounts: string[] = []
  for (const volume of pod.spec.volumes ?? []) {
    if (!isInput(volume)) continue
    const problem = (await sourceProblem(volume, reader)) ?? (await projectedProblem(volume, reader))
    if (problem !== undefined) mounts.push(`MountVolume.SetUp failed for volume "${volume.name}" : ${problem}`)
    const claim = await claimProblem(pod, volume, reader)
    if (claim === undefined) continue
    const lists = `unmounted volumes=[${volume.name}], unattached volumes=[], failed to process volumes=[${volume.name}]`
    mounts.push(`Unable to attach or mount volumes: ${lists}: ${claim}`)
  }
  const containers = new Map<string, string>()
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const problem = await environmentProblem(pod.metadata.namespace ?? '', container, reader)
    if (problem !== undefined) containers.set(container.name, problem)
  }
  return { mounts, containers }
}

interface Wanted {
  readonly name: string
  readonly keys: readonly string[]
  readonly optional: boolean
}

type KeyPaths = readonly { readonly key: string }[] | undefined

const wanted = (name: string | undefined, items: KeyPaths, optional: boolean | undefined): Wanted => ({
  name: name ?? '',
  keys: (items ?? []).map(({ key }) => key),
  optional: optional ?? false,
})

async function sourceProblem(
  { configMap, secret }: Pick<DeepReadonly<Volume>, 'configMap' | 'secret'>,
  reader: InputReader,
): Promise<string | undefined> {
  if (configMap !== undefined) {
    return configMapProblem(wanted(configMap.name, configMap.items, configMap.optional), reader)
  }
  return secret === undefined
    ? undefined
    : secretProblem(wanted(secret.secretName, secret.items, secret.optional), reader)
}

async function projectedProblem({ projected }: DeepReadonly<Volume>, reader: InputReader): Promise<string | undefined> {
  for (const { configMap, secret } of projected?.sources ?? []) {
    if (configMap !== undefined) {
      const problem = await configMapProblem(wanted(configMap.name, configMap.items, configMap.optional), reader)
      if (problem !== undefined) return problem
    }
    if (secret !== undefined) {
      const problem = await secretProblem(wanted(secret.name, secret.items, secret.optional), reader)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

async function configMapProblem({ keys, name, optional }: Wanted, reader: InputReader): Promise<string | undefined> {
  if (optional) return undefined
  const found = await reader.configMap(name)
  if (found === undefined) return `configmap "${name}" not found`
  const missing = keys.find((key) => !hasKey(found, key))
  return missing === undefined ? undefined : `configmap references non-existent config key: ${missing}`
}

async function secretProblem({ keys, name, optional }: Wanted, reader: InputReader): Promise<string | undefined> {
  if (optional) return undefined
  const found = await reader.secret(name)
  if (found === undefined) return `secret "${name}" not found`
  const missing = keys.find((key) => !hasKey(found, key))
  return missing === undefined ? undefined : `references non-existent secret key: ${missing}`
}

async function claimProblem(pod: Pod, volume: DeepReadonly<Volume>, reader: InputReader): Promise<string | undefined> {
  const ephemeral = volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`
  const name = volume.persistentVolumeClaim?.claimName ?? ephemeral
  if (name === undefined) return undefined
  const claim = await reader.claim(name)
  const where = `error processing PVC ${pod.metadata.namespace}/${name}`
  if (claim === undefined) {
    return `${where}: failed to fetch PVC from API server: persistentvolumeclaims "${name}" not found`
  }
  return claim.status?.phase === 'Bound' ? undefined : `${where}: PVC is not bound`
}

async function environmentProblem(
  namespace: string,
  { env = [], envFrom = [] }: DeepReadonly<Container>,
  reader: InputReader,
): Promise<string | undefined> {
  for (const { configMapRef, secretRef } of envFrom) {
    const problem =
      (configMapRef && (await configMapProblem(wanted(configMapRef.name, [], configMapRef.optional), reader))) ??
      (secretRef && (await secretProblem(wanted(secretRef.name, [], secretRef.optional), reader)))
    if (problem !== undefined) return problem
  }
  for (const { valueFrom: { configMapKeyRef, secretKeyRef } = {} } of env) {
    if (configMapKeyRef !== undefined && !configMapKeyRef.optional) {
      const { key, name = '' } = configMapKeyRef
      const found = await reader.configMap(name)
      if (found === undefined) return `configmap "${name}" not found`
      if (!hasKey(found, key)) return `couldn't find key ${key} in ConfigMap ${namespace}/${name}`
    }
    if (secretKeyRef !== undefined && !secretKeyRef.optional) {
      const { key, name = '' } = secretKeyRef
      const found = await reader.secret(name)
      if (found === undefined) return `secret "${name}" not found`
      if (!hasKey(found, key)) return `couldn't find key ${key} in Secret ${namespace}/${name}`
    }
  }
  return undefined
}

function hasKey(object: ConfigMap | Secret, key: string): boolean {
  const binary = 'binaryData' in object ? object.binaryData : undefined
  return Object.hasOwn(object.data ?? {}, key) || Object.hasOwn(binary ?? {}, key)
}
