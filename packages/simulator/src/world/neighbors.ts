import type { KubeObject } from '@kubewright/api'
import { objectId } from '../define/object-id.ts'
import type { World } from './world.ts'

const ownerName = 'neighbor-owner'
// A second one changes what the operator's own objects may do.
const rules = new Set(['LimitRange', 'ResourceQuota'])

export interface Neighbor {
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
  readonly all: Neighbor[] = []

  constructor(world: World) {
    this.#world = world
  }

  has(id: string): boolean {
    return this.all.some((one) => one.id === id)
  }

  /** Creates a neighbor of one of the children. Resolves to its ID, or undefined when there is no suitable child. */
  async create(pick: number): Promise<string | undefined> {
    const { setup, user, log } = this.#world
    const objects = await this.#world.objects()
    const owners = new Map(
      objects
        .filter(({ kind }) => setup.samples.isSubjectKind(kind))
        .map(({ metadata }) => [metadata.uid, metadata.name]),
    )
    const ownerOf = ({ metadata }: KubeObject): string | undefined => {
      const reference = metadata.ownerReferences?.find(({ controller }) => controller)
      return reference && owners.get(reference.uid)
    }
    const children = objects
      .filter((object) => log.written.has(objectId(object)) && ownerOf(object) !== undefined)
      // The operator works on all objects of its own kinds.
      .filter(({ kind }) => setup.operator.definition.controllers.every((one) => one.kind?.kind !== kind))
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
    this.all.push({ id, path: `${collection}/${object.metadata.name}`, uid: object.metadata.uid })
    return id
  }

  async #owner(namespace: string): Promise<KubeObject> {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ownerName } }
    const { status, object } = await this.#world.user.request('POST', path, body)
    return status === 201 ? object : (await this.#world.user.request('GET', `${path}/${ownerName}`)).object
  }
}

function copyOf(child: KubeObject, ownerName: string, owner: KubeObject): object {
  const {
    apiVersion,
    kind,
    metadata,
    status: _,
    ...rest
  } = child as KubeObject & { status?: unknown; spec?: object | undefined }
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
  const spec = (copy as { spec?: Record<string, unknown> | undefined }).spec
  // Fields that the server allocates.
  for (const field of ['clusterIP', 'clusterIPs', 'nodeName', 'volumeName', 'healthCheckNodePort']) delete spec?.[field]
  if (kind === 'Job') removeGenerated(spec)
  // Two autoscalers of one workload would disagree for ever.
  const target = spec?.['scaleTargetRef'] as { name?: string | undefined } | undefined
  if (target !== undefined) target.name = `${target.name}-neighbor`
  renamePods(spec, renamed)
  leaveVolumes(spec)
  return copy
}

type Labels = Readonly<Record<string, string>>

/** Gives the pods of a workload, and the selectors that find them, the labels of the neighbor. */
function renamePods(spec: Record<string, unknown> | undefined, renamed: (labels: Labels | undefined) => Labels): void {
  const template = spec?.['template'] as { metadata?: { labels?: Labels | undefined } | undefined } | undefined
  if (template?.metadata?.labels !== undefined) template.metadata.labels = renamed(template.metadata.labels)
  const selector = spec?.['selector'] as (Labels & { matchLabels?: Labels | undefined }) | undefined
  if (spec === undefined || selector === undefined) return
  const isPlain = Object.values(selector).every((value) => typeof value === 'string')
  spec['selector'] = isPlain ? renamed(selector) : { ...selector, matchLabels: renamed(selector.matchLabels) }
}

/** Gives the pods of a neighbor empty volumes in place of claims, whose deletion would wait for these pods. */
function leaveVolumes(spec: Record<string, unknown> | undefined): void {
  const template = spec?.['template'] as { spec?: PodVolumes | undefined } | undefined
  for (const pod of [template?.spec, spec as PodVolumes | undefined]) {
    if (!Array.isArray(pod?.volumes)) continue
    pod.volumes = pod.volumes.map(({ persistentVolumeClaim: claim, ...volume }) =>
      claim === undefined ? volume : { ...volume, emptyDir: {} },
    )
  }
}

interface PodVolumes {
  volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: object | undefined }[] | undefined
}

/** Removes the selector and the labels that the server generates for a Job. */
function removeGenerated(spec: Record<string, unknown> | undefined): void {
  delete spec?.['selector']
  const template = spec?.['template'] as { metadata?: { labels?: object | undefined } | undefined } | undefined
  if (template?.metadata !== undefined) delete template.metadata.labels
}
