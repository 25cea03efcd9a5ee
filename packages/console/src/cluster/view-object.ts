import { textOf } from '@kubewright/base'
import type { KindInfo, ObjectName } from '../wire/names.ts'
import type { ConditionView, ContainerView, ObjectView, OwnerView } from '../wire/object-view.ts'
import { fieldOwners } from './field-owners.ts'
import { type Json, listAt, objectAt, textsAt } from './json.ts'
import { isSecret, maskSecret } from './mask-secret.ts'
import { yamlLines } from './yaml-lines.ts'

/** Options of {@link viewObject}. */
export interface ViewOptions {
  readonly kinds: readonly KindInfo[]
  /** Shows the values of Secrets. */
  readonly reveal: boolean
}

/** Describes an object for the page. */
export function viewObject(original: Json, { kinds, reveal }: ViewOptions): ObjectView {
  const masked = isSecret(original) && !reveal
  const object = masked ? maskSecret(original) : original
  const metadata = objectAt(object, 'metadata')
  const namespace = textOf(metadata['namespace']) || undefined
  const owners = fieldOwners(original)
  const { managedFields: _, ...visible } = metadata
  const finalizers = metadata['finalizers']
  const replicas = objectAt(object, 'spec')['replicas']
  return {
    apiVersion: textOf(object['apiVersion']),
    kind: textOf(object['kind']),
    name: textOf(metadata['name']),
    namespace,
    uid: textOf(metadata['uid']),
    resourceVersion: textOf(metadata['resourceVersion']),
    created: textOf(metadata['creationTimestamp']),
    deleting: textOf(metadata['deletionTimestamp']) || undefined,
    finalizers: Array.isArray(finalizers) ? finalizers.map(textOf) : [],
    labels: textsAt(metadata, 'labels'),
    annotations: textsAt(metadata, 'annotations'),
    owners: listAt(metadata, 'ownerReferences').map((reference) => viewOwner(reference, namespace, kinds)),
    conditions: conditionsOf(object),
    replicas: typeof replicas === 'number' ? replicas : undefined,
    containers: textOf(object['kind']) === 'Pod' ? containersOf(object) : undefined,
    unschedulable: objectAt(object, 'spec')['unschedulable'] === true,
    lines: yamlLines({ ...object, metadata: visible }).map(({ text, path }) => ({
      text,
      owners: owners.ownersOf(path),
    })),
    managers: owners.managers,
    masked,
  }
}

/** The containers of a pod, then its init containers and ephemeral containers. */
function containersOf(pod: Json): ContainerView[] {
  const [spec, status] = [objectAt(pod, 'spec'), objectAt(pod, 'status')]
  const runs = new Map(
    ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
      .flatMap((field) => listAt(status, field))
      .map(({ name, containerID, restartCount }) => [textOf(name), `${textOf(containerID)} ${restartCount}`]),
  )
  return ['containers', 'initContainers', 'ephemeralContainers']
    .flatMap((field) => listAt(spec, field))
    .map((container) => {
      const name = textOf(container['name'])
      const ports = listAt(container, 'ports')
        .filter(({ protocol }) => protocol === undefined || protocol === 'TCP')
        .map(({ containerPort }) => containerPort)
        .filter((port) => typeof port === 'number')
      return { name, run: runs.get(name) ?? '', ports }
    })
}

/** Newest first. */
function conditionsOf(object: Json): ConditionView[] {
  return listAt(objectAt(object, 'status'), 'conditions')
    .map((condition) => ({
      type: textOf(condition['type']),
      status: textOf(condition['status']),
      reason: textOf(condition['reason']),
      message: textOf(condition['message']),
      since: textOf(condition['lastTransitionTime']),
    }))
    .sort((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0))
}

function viewOwner(reference: Json, namespace: string | undefined, kinds: readonly KindInfo[]): OwnerView {
  const kind = textOf(reference['kind'])
  const name = textOf(reference['name'])
  const object = ownerName(reference, namespace, kinds)
  return { kind, name, controller: reference['controller'] === true, object }
}

/** The object that an owner reference names; undefined if the cluster does not serve its kind. */
export function ownerName(
  reference: Json,
  namespace: string | undefined,
  kinds: readonly KindInfo[],
): ObjectName | undefined {
  const [group = ''] = textOf(reference['apiVersion']).split('/').slice(0, -1)
  const info = kinds.find((known) => known.group === group && known.kind === reference['kind'])
  if (info === undefined) return undefined
  const { version, plural, namespaced } = info
  const name = textOf(reference['name'])
  return { resource: { group, version, plural }, name, ...(namespaced ? { namespace } : {}) }
}
