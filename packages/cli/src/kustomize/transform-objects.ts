import { isJsonObject, KubewrightError } from '@kubewright/base'
import { visitFields } from './field-path.ts'
import { type LoadedKustomization, pairsOf, recordsOf, unsupported } from './kustomization.ts'
import { childObject, isOfKind, type KindSelector, type MutableObject, type ResourceEntry } from './resource-entry.ts'

/** A place of labels or annotations. */
interface FieldPlace extends KindSelector {
  readonly path: string
  /** Whether the field is created if it is missing. */
  readonly create: boolean
}

const withTemplate: readonly KindSelector[] = [
  { version: 'v1', kind: 'ReplicationController' },
  { kind: 'Deployment' },
  { kind: 'ReplicaSet' },
  { kind: 'DaemonSet' },
  { kind: 'StatefulSet' },
  { group: 'batch', kind: 'Job' },
]
const cronJob: KindSelector = { group: 'batch', kind: 'CronJob' }

/** The metadata of an object's templates. */
function templates(field: 'labels' | 'annotations'): FieldPlace[] {
  return [
    ...withTemplate.map((kind) => ({ ...kind, path: `spec/template/metadata/${field}`, create: true })),
    { ...cronJob, path: `spec/jobTemplate/metadata/${field}`, create: true },
    { ...cronJob, path: `spec/jobTemplate/spec/template/metadata/${field}`, create: true },
  ]
}

const objectLabels: readonly FieldPlace[] = [{ path: 'metadata/labels', create: true }]
const templateLabels: readonly FieldPlace[] = [
  ...templates('labels'),
  { group: 'apps', kind: 'StatefulSet', path: 'spec/volumeClaimTemplates[]/metadata/labels', create: true },
]
const annotationPlaces: readonly FieldPlace[] = [
  { path: 'metadata/annotations', create: true },
  ...templates('annotations'),
]

const affinities = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
  `spec/template/spec/affinity/${kind}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `spec/template/spec/affinity/${kind}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])
const spreads = [...affinities, 'spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels']
const policyGroup = { group: 'networking.k8s.io', kind: 'NetworkPolicy' }
const selectorLabels: readonly FieldPlace[] = [
  { version: 'v1', kind: 'Service', path: 'spec/selector', create: true },
  { version: 'v1', kind: 'ReplicationController', path: 'spec/selector', create: true },
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map((kind) => ({
    kind,
    path: 'spec/selector/matchLabels',
    create: true,
  })),
  ...['Deployment', 'StatefulSet'].flatMap((kind) =>
    spreads.map((path) => ({ group: 'apps', kind, path, create: false })),
  ),
  { group: 'batch', kind: 'Job', path: 'spec/selector/matchLabels', create: false },
  { ...cronJob, path: 'spec/jobTemplate/spec/selector/matchLabels', create: false },
  { group: 'policy', kind: 'PodDisruptionBudget', path: 'spec/selector/matchLabels', create: false },
  ...['spec/podSelector', 'spec/ingress/from/podSelector', 'spec/egress/to/podSelector'].map((path) => ({
    ...policyGroup,
    path: `${path}/matchLabels`,
    create: false,
  })),
]

/** Sets the namespace of all objects, and of the references for which no object is looked up. */
export function setNamespace(entries: readonly ResourceEntry[], namespace: string): void {
  for (const entry of entries) {
    const { kind } = entry.id
    if (kind === 'Namespace') {
      if (entry.metadata['name'] !== namespace) entry.rename(namespace)
    } else if (!entry.isClusterScoped) entry.moveTo(namespace)
    if (kind === 'RoleBinding' || kind === 'ClusterRoleBinding') {
      // As in kustomize: references to other accounts follow the account, if it is an object of the build.
      visitFields(entry.object, 'subjects/name', (subject) => {
        if (subject['name'] === 'default') subject['namespace'] = namespace
      })
    }
    if (kind === 'APIService') {
      visitFields(entry.object, 'spec/service/namespace', (service) => void (service['namespace'] = namespace), true)
    }
    if (kind === 'CustomResourceDefinition') {
      const path = 'spec/conversion/webhook/clientConfig/service/namespace'
      visitFields(entry.object, path, (service) => void (service['namespace'] = namespace))
    }
  }
}

/** Adds a prefix or a suffix to all names, except of kinds whose name is part of the API. */
export function addAffix(entries: readonly ResourceEntry[], prefix: string, suffix: string): void {
  if (prefix === '' && suffix === '') return
  for (const entry of entries) {
    const { kind, name } = entry.id
    if (['CustomResourceDefinition', 'APIService', 'Namespace'].includes(kind)) continue
    entry.rename(`${prefix}${name}${suffix}`)
    entry.affixes.push(`${prefix}/${suffix}`)
  }
}

/** Adds `labels` and `commonLabels`. */
export function addLabels(entries: readonly ResourceEntry[], loaded: LoadedKustomization): void {
  const { file, fields } = loaded
  for (const { pairs, includeSelectors, includeTemplates, ...rest } of recordsOf(loaded, 'labels')) {
    const unknown = Object.keys(rest)[0]
    if (unknown !== undefined) throw unsupported(file, `labels.${unknown}`)
    const places = [
      ...objectLabels,
      ...(includeTemplates === true || includeSelectors === true ? templateLabels : []),
      ...(includeSelectors === true ? selectorLabels : []),
    ]
    addPairs(entries, places, pairsOf(file, 'labels.pairs', pairs))
  }
  const common = pairsOf(file, 'commonLabels', fields['commonLabels'])
  addPairs(entries, [...objectLabels, ...templateLabels, ...selectorLabels], common)
}

/** Adds `commonAnnotations`. */
export function addAnnotations(entries: readonly ResourceEntry[], { file, fields }: LoadedKustomization): void {
  addPairs(entries, annotationPlaces, pairsOf(file, 'commonAnnotations', fields['commonAnnotations']))
}

function addPairs(
  entries: readonly ResourceEntry[],
  places: readonly FieldPlace[],
  pairs: Readonly<Record<string, string>>,
): void {
  if (Object.keys(pairs).length === 0) return
  for (const { id, object } of entries) {
    for (const place of places) {
      if (!isOfKind(id, place)) continue
      visitFields(
        object,
        place.path,
        (holder, field) => void Object.assign(childObject(holder, field), pairs),
        place.create,
      )
    }
  }
}

/** Sets the number of replicas of workloads. */
export function setReplicas(entries: readonly ResourceEntry[], loaded: LoadedKustomization): void {
  const scaled = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet']
  for (const { name, count } of recordsOf(loaded, 'replicas')) {
    const found = entries.filter(({ ids }) => ids.some((id) => scaled.includes(id.kind) && id.name === name))
    if (found.length === 0)
      throw new KubewrightError(
        'KW_KUSTOMIZE',
        `${loaded.file}: replicas names ${String(name)}, but no workload has this name`,
      )
    for (const { object } of found) childObject(object, 'spec')['replicas'] = count
  }
}

/** Replaces the images of containers. */
export function setImages(entries: readonly ResourceEntry[], loaded: LoadedKustomization): void {
  for (const image of recordsOf(loaded, 'images')) {
    for (const { id, object } of entries) {
      // The schema of a CRD can have fields with these names.
      if (id.kind !== 'CustomResourceDefinition') replaceImages(object, image)
    }
  }
}

function replaceImages(value: unknown, image: Readonly<Record<string, unknown>>): void {
  if (Array.isArray(value)) for (const item of value) replaceImages(item, image)
  if (!isJsonObject(value)) return
  for (const [field, inner] of Object.entries(value)) {
    if ((field === 'containers' || field === 'initContainers') && Array.isArray(inner)) {
      for (const container of inner as unknown[]) {
        if (!isJsonObject(container) || typeof container['image'] !== 'string') continue
        ;(container as MutableObject)['image'] = newImage(container['image'], image)
      }
    }
    replaceImages(inner, image)
  }
}

/** The image with the name, tag and digest of an entry of `images`, if the entry names it. */
function newImage(
  before: string,
  { name, newName, newTag, digest, tagSuffix }: Readonly<Record<string, unknown>>,
): string {
  const [, plain = '', tag, oldDigest] = /^(.*?)(?::([^/:@]+))?(?:@(.+))?$/.exec(before) ?? []
  if (plain !== name) return before
  const repository = typeof newName === 'string' && newName !== '' ? newName : plain
  // YAML parses a tag such as 1.10 as a number.
  const given = newTag === undefined || newTag === null || newTag === '' ? undefined : String(newTag)
  const hash = typeof digest === 'string' && digest !== '' ? digest : undefined
  if (given !== undefined) return `${repository}:${given}${hash === undefined ? '' : `@${hash}`}`
  if (hash !== undefined) return `${repository}@${hash}`
  const suffix = typeof tagSuffix === 'string' && tag !== undefined ? tagSuffix : ''
  return `${repository}${tag === undefined ? '' : `:${tag}${suffix}`}${oldDigest === undefined ? '' : `@${oldDigest}`}`
}
