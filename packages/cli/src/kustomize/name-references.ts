import { isJsonObject, KubewrightError } from '@kubewright/base'
import { visitFields } from './field-path.ts'
import { type Kustomization, unsupported } from './kustomization.ts'
import { describeId, isOfKind, type KindSelector, type MutableObject, type ResourceEntry } from './resource-entry.ts'

/** Fields that contain the name of an object of a kind. */
export interface NameReference {
  readonly to: KindSelector
  readonly from: readonly (KindSelector & { readonly path: string })[]
}

const podSpecs: readonly (readonly [kind: string, path: string])[] = [
  ['Pod', 'spec'],
  ['PodTemplate', 'template/spec'],
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job', 'ReplicationController'].map(
    (kind) => [kind, 'spec/template/spec'] as const,
  ),
  ['CronJob', 'spec/jobTemplate/spec/template/spec'],
]

function fromPods(...paths: readonly string[]): NameReference['from'] {
  return podSpecs.flatMap(([kind, spec]) => paths.map((path) => ({ kind, path: `${spec}/${path}` })))
}

function fromContainers(...paths: readonly string[]): NameReference['from'] {
  return fromPods(...['containers', 'initContainers'].flatMap((list) => paths.map((path) => `${list}/${path}`)))
}

const rbac = 'rbac.authorization.k8s.io'
const admission = 'admissionregistration.k8s.io'
const resourceNames = ['Role', 'ClusterRole'].map((kind) => ({ kind, path: 'rules/resourceNames' }))
const claims = ['PersistentVolumeClaim', 'PersistentVolume', 'StatefulSet']

/** The references between built-in kinds. */
const builtin: readonly NameReference[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({
    to: { kind },
    from: [{ kind: 'HorizontalPodAutoscaler', path: 'spec/scaleTargetRef/name' }],
  })),
  {
    to: { version: 'v1', kind: 'ConfigMap' },
    from: [
      ...fromPods('volumes/configMap/name', 'volumes/projected/sources/configMap/name'),
      ...fromContainers('env/valueFrom/configMapKeyRef/name', 'envFrom/configMapRef/name'),
      ...resourceNames,
      { kind: 'Node', path: 'spec/configSource/configMap' },
    ],
  },
  {
    to: { version: 'v1', kind: 'Secret' },
    from: [
      ...fromPods('volumes/secret/secretName', 'volumes/projected/sources/secret/name', 'imagePullSecrets/name'),
      ...fromContainers('env/valueFrom/secretKeyRef/name', 'envFrom/secretRef/name'),
      { kind: 'ServiceAccount', path: 'imagePullSecrets/name' },
      { kind: 'Ingress', path: 'spec/tls/secretName' },
      ...resourceNames,
    ],
  },
  {
    to: { version: 'v1', kind: 'Service' },
    from: [
      { group: 'apps', kind: 'StatefulSet', path: 'spec/serviceName' },
      { kind: 'Ingress', path: 'spec/rules/http/paths/backend/service/name' },
      { kind: 'Ingress', path: 'spec/defaultBackend/service/name' },
      { group: 'apiregistration.k8s.io', kind: 'APIService', path: 'spec/service/name' },
      { group: admission, kind: 'ValidatingWebhookConfiguration', path: 'webhooks/clientConfig/service' },
      { group: admission, kind: 'MutatingWebhookConfiguration', path: 'webhooks/clientConfig/service' },
    ],
  },
  { to: { group: rbac, kind: 'Role' }, from: [{ group: rbac, kind: 'RoleBinding', path: 'roleRef/name' }] },
  {
    to: { group: rbac, kind: 'ClusterRole' },
    from: ['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({ group: rbac, kind, path: 'roleRef/name' })),
  },
  {
    to: { version: 'v1', kind: 'ServiceAccount' },
    from: [
      ...['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({ group: rbac, kind, path: 'subjects' })),
      ...fromPods('serviceAccountName'),
    ],
  },
  {
    to: { version: 'v1', kind: 'PersistentVolumeClaim' },
    from: fromPods('volumes/persistentVolumeClaim/claimName'),
  },
  {
    to: { version: 'v1', kind: 'PersistentVolume' },
    from: [{ kind: 'PersistentVolumeClaim', path: 'spec/volumeName' }],
  },
  {
    to: { group: 'storage.k8s.io', kind: 'StorageClass' },
    from: claims.map((kind) => ({
      kind,
      path: kind === 'StatefulSet' ? 'spec/volumeClaimTemplates/spec/storageClassName' : 'spec/storageClassName',
    })),
  },
  { to: { group: 'scheduling.k8s.io', kind: 'PriorityClass' }, from: fromPods('priorityClassName') },
  {
    to: { group: 'networking.k8s.io', kind: 'IngressClass' },
    from: [{ kind: 'Ingress', path: 'spec/ingressClassName' }],
  },
  {
    to: { group: admission, kind: 'ValidatingAdmissionPolicy' },
    from: [{ group: admission, kind: 'ValidatingAdmissionPolicyBinding', path: 'spec/policyName' }],
  },
]

/** The references that a file of `configurations` declares. */
export function declaredReferences(file: string, configuration: Kustomization): NameReference[] {
  const unknown = Object.keys(configuration).find((field) => field !== 'nameReference')
  if (unknown !== undefined) throw unsupported(file, `the configuration ${unknown}`)
  const { nameReference } = configuration
  if (!Array.isArray(nameReference)) return []
  return nameReference.filter(isJsonObject).map(({ fieldSpecs, ...to }) => ({
    to: to as KindSelector,
    from: (Array.isArray(fieldSpecs) ? fieldSpecs : []) as NameReference['from'],
  }))
}

/** Replaces earlier names of objects by their final names in all references. */
export function fixReferences(entries: readonly ResourceEntry[], declared: readonly NameReference[]): void {
  for (const { to, from } of [...builtin, ...declared]) {
    const candidates = entries.filter(({ previous }) => previous.some((id) => isOfKind(id, to)))
    if (candidates.length === 0) continue
    for (const place of from) {
      for (const referrer of entries) {
        if (!isOfKind(referrer.ids[0]!, place)) continue
        visitFields(referrer.object, place.path, (holder, field) => {
          holder[field] = renamed(holder[field], { referrer, candidates, path: place.path })
        })
      }
    }
  }
}

interface Search {
  readonly referrer: ResourceEntry
  readonly candidates: readonly ResourceEntry[]
  readonly path: string
}

function renamed(value: unknown, search: Search): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, search))
  if (typeof value === 'string') return target(value, search)?.id.name ?? value
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return value
  const { namespace } = value
  const isThere = (entry: ResourceEntry): boolean => entry.ids.some((id) => id.namespace === namespace)
  const candidates = namespace === undefined ? search.candidates : search.candidates.filter(isThere)
  const found = target(value['name'], { ...search, candidates })
  if (found === undefined) return value
  const { id } = found
  return { ...value, name: id.name, ...(id.namespace === '' ? {} : { namespace: id.namespace }) }
}

/** The object that had a name at an earlier step. */
function target(name: string, { referrer, candidates, path }: Search): ResourceEntry | undefined {
  const roleRef = path.endsWith('roleRef/name') ? (referrer.object['roleRef'] as MutableObject) : undefined
  let found = candidates.filter(
    (entry) =>
      entry.previous.some((id) => id.name === name) &&
      (roleRef === undefined || entry.id.kind === roleRef['kind']) &&
      isVisible(referrer, entry),
  )
  // Objects of one base have the same prefixes and suffixes.
  if (found.length > 1) found = found.filter(({ affixes }) => affixes.join() === referrer.affixes.join())
  const [first] = found
  if (found.some(({ id }) => id.name !== first!.id.name)) {
    throw new KubewrightError(
      'KW_KUSTOMIZE',
      `${describeId(referrer.id)} refers to ${name} in ${path}, which is the original name of several objects: ${found.map(({ id }) => describeId(id)).join(', ')}`,
    )
  }
  return first
}

/** Whether a reference can cross namespaces, or both objects are in the same one. */
function isVisible(referrer: ResourceEntry, entry: ResourceEntry): boolean {
  if (referrer.isClusterScoped || entry.isClusterScoped || entry.id.kind === 'ServiceAccount') return true
  return referrer.id.namespace === entry.id.namespace
}
