import { controllerOf, type KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'
import type { World } from './world.ts'

const ownerName = 'neighbor-owner'
// A second one changes what the operator's own objects may do.
const rules = new Set(['LimitRange', 'ResourceQuota'])

interface Neighbor {
  readonly id: string
  readonly path: string
  readonly uid: string
}

/**
 * Objects of another owner that look like children of the operator: a copy of a child with another name, another
 * controller and the same labels. A label whose value contains the name of the child's owner gets another value, because
 * operators may use such a label to find their children.
 */
export class Neighbors {
  readonly #world: World
  readonly #all: Neighbor[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** Whether an object is a neighbor. */
  has(id: string): boolean {
    return this.#all.some((one) => one.id === id)
  }

  /** Creates a neighbor of one of the children. Resolves to its ID, or undefined when there is no suitable child. */
  async create(pick: number): Promise<string | undefined> {
    const { setup, user, log } = this.#world
    const objects = await this.#world.objects()
    const owners = new Map(
      objects.filter(({ kind }) => setup.isSubjectKind(kind)).map(({ metadata }) => [metadata.uid, metadata.name]),
    )
    const ownerOf = ({ metadata }: KubeObject): string | undefined => {
      const reference = metadata.ownerReferences?.find(({ controller }) => controller)
      return reference && owners.get(reference.uid)
    }
    const children = objects
      .filter((object) => log.written.has(objectId(object)) && ownerOf(object) !== undefined)
      // The operator works on all objects of its own kinds.
      .filter(({ kind }) => setup.operator.controllers.every((one) => one.kind?.kind !== kind))
      .filter(({ kind }) => !rules.has(kind))
      .sort((a, b) => (objectId(a) < objectId(b) ? -1 : 1))
    const child = children[pick % Math.max(1, children.length)]
    if (child === undefined) return undefined
    const { namespace } = child.metadata
    if (namespace === undefined) return undefined
    const owner = await this.#owner(namespace)
    const body = copyOf(child, ownerOf(child) ?? '', owner)
    const collection = log.written.get(objectId(child))!.path.replace(/\/[^/]*$/, '')
    const { status, object } = await user.request('POST', collection, body)
    if (status !== 201) return undefined
    const id = objectId(object)
    this.#all.push({ id, path: `${collection}/${object.metadata.name}`, uid: object.metadata.uid })
    return id
  }

  async #owner(namespace: string): Promise<KubeObject> {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ownerName } }
    const { status, object } = await this.#world.user.request('POST', path, body)
    return status === 201 ? object : (await this.#world.user.request('GET', `${path}/${ownerName}`)).object
  }

  /** Reports the neighbors that the operator has changed or deleted. */
  check(objects: readonly KubeObject[]): void {
    const { history, log, faults, setup } = this.#world
    const namespaces = new Set(
      objects.flatMap(({ kind, metadata }) =>
        kind === 'Namespace' && metadata.deletionTimestamp === undefined ? [metadata.name] : [],
      ),
    )
    const hasLostNodes = [...faults.fired].some(({ kind }) => kind === 'node-lost')
    for (const { id, uid, path } of this.#all) {
      const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? ''
      // A node takes the pods of all owners with it.
      if (hasLostNodes && id.startsWith('Pod ')) continue
      // A namespace that the operator or the user has created takes all its objects with it.
      const isTemporary = log.written.has(`Namespace ${namespace}`) || setup.isSubjectKind('Namespace')
      if (isTemporary && !namespaces.has(namespace)) continue
      const found = objects.find(({ metadata }) => metadata.uid === uid)
      if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
        history.violate('others', `The operator deleted ${id}, which belongs to another owner`)
      } else if (log.writes.some((write) => write.id === id && write.isEffective)) {
        history.violate('others', `The operator changed ${id}, which belongs to another owner`)
      }
    }
    this.#checkParts(objects)
  }

  /** Reports the objects that the operator has deleted although a neighbor controls them, such as the pods of a Deployment. */
  #checkParts(objects: readonly KubeObject[]): void {
    const { history, log } = this.#world
    const byUid = new Map(objects.map((object) => [object.metadata.uid, object]))
    const neighborOf = (uid: string): string | undefined => {
      const found = this.#all.find((one) => one.uid === uid)
      const owner = byUid.get(uid)
      return found?.id ?? (owner && neighborOf(controllerOf(owner)?.uid ?? ''))
    }
    for (const [id, owner] of log.deleted) {
      const neighbor = neighborOf(owner)
      if (neighbor !== undefined) history.violate('others', `The operator deleted ${id}, which belongs to ${neighbor}`)
    }
  }
}

function copyOf(child: KubeObject, ownerName: string, owner: KubeObject): object {
  const { apiVersion, kind, metadata, status: _, ...rest } = child as KubeObject & { status?: unknown; spec?: object }
  const renamed = (labels: Labels | undefined): Labels =>
    Object.fromEntries(
      Object.entries(labels ?? {}).map(([name, value]) => [name, value.includes(ownerName) ? 'neighbor' : value]),
    )
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid }
  const copy = {
    apiVersion,
    kind,
    metadata: {
      name: `${metadata.name}-neighbor`,
      namespace: metadata.namespace,
      labels: renamed(metadata.labels),
      ownerReferences: [{ ...reference, controller: true }],
    },
    ...structuredClone(rest),
  }
  const spec = (copy as { spec?: Record<string, unknown> }).spec
  // Fields that the server allocates.
  for (const field of ['clusterIP', 'clusterIPs', 'nodeName', 'volumeName', 'healthCheckNodePort']) delete spec?.[field]
  if (kind === 'Job') removeGenerated(spec)
  // Two autoscalers of one workload would disagree for ever.
  const target = spec?.['scaleTargetRef'] as { name?: string } | undefined
  if (target !== undefined) target.name = `${target.name}-neighbor`
  renamePods(spec, renamed)
  leaveVolumes(spec)
  return copy
}

type Labels = Readonly<Record<string, string>>

/** Gives the pods of a workload, and the selectors that find them, the labels of the neighbor. */
function renamePods(spec: Record<string, unknown> | undefined, renamed: (labels: Labels | undefined) => Labels): void {
  const template = spec?.['template'] as { metadata?: { labels?: Labels } } | undefined
  if (template?.metadata?.labels !== undefined) template.metadata.labels = renamed(template.metadata.labels)
  const selector = spec?.['selector'] as (Labels & { matchLabels?: Labels }) | undefined
  if (spec === undefined || selector === undefined) return
  const isPlain = Object.values(selector).every((value) => typeof value === 'string')
  spec['selector'] = isPlain ? renamed(selector) : { ...selector, matchLabels: renamed(selector.matchLabels) }
}

/** Gives the pods of a neighbor empty volumes in place of claims, whose deletion would wait for these pods. */
function leaveVolumes(spec: Record<string, unknown> | undefined): void {
  const template = spec?.['template'] as { spec?: PodVolumes } | undefined
  for (const pod of [template?.spec, spec as PodVolumes | undefined]) {
    if (!Array.isArray(pod?.volumes)) continue
    pod.volumes = pod.volumes.map(({ persistentVolumeClaim: claim, ...volume }) =>
      claim === undefined ? volume : { ...volume, emptyDir: {} },
    )
  }
}

interface PodVolumes {
  volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: object }[]
}

/** Removes the selector and the labels that the server generates for a Job. */
function removeGenerated(spec: Record<string, unknown> | undefined): void {
  delete spec?.['selector']
  const template = spec?.['template'] as { metadata?: { labels?: object } } | undefined
  if (template?.metadata !== undefined) delete template.metadata.labels
}
