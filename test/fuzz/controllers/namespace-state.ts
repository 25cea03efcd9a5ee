import type { HttpClient } from '../../conformance/http-client.ts'

/** An object of the API, as far as the comparison reads it. */
export interface ApiObject {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[]
    readonly deletionTimestamp?: string
    readonly generateName?: string
  }
  readonly [field: string]: unknown
}

const resources = [
  ['Deployment', 'apis/apps/v1', 'deployments'],
  ['ReplicaSet', 'apis/apps/v1', 'replicasets'],
  ['StatefulSet', 'apis/apps/v1', 'statefulsets'],
  ['DaemonSet', 'apis/apps/v1', 'daemonsets'],
  ['ControllerRevision', 'apis/apps/v1', 'controllerrevisions'],
  ['Job', 'apis/batch/v1', 'jobs'],
  ['CronJob', 'apis/batch/v1', 'cronjobs'],
  ['ReplicationController', 'api/v1', 'replicationcontrollers'],
  ['Pod', 'api/v1', 'pods'],
  ['Service', 'api/v1', 'services'],
  ['Endpoints', 'api/v1', 'endpoints'],
  ['EndpointSlice', 'apis/discovery.k8s.io/v1', 'endpointslices'],
  ['PersistentVolumeClaim', 'api/v1', 'persistentvolumeclaims'],
  ['PodDisruptionBudget', 'apis/policy/v1', 'poddisruptionbudgets'],
  ['ResourceQuota', 'api/v1', 'resourcequotas'],
  ['ServiceAccount', 'api/v1', 'serviceaccounts'],
  ['Event', 'api/v1', 'events'],
] as const

/** All objects of a namespace that controllers write. */
export async function readNamespace(client: HttpClient, namespace: string): Promise<ApiObject[]> {
  const lists = await Promise.all(
    resources.map(async ([kind, base, plural]) => {
      const { body } = await client.request({ path: `/${base}/namespaces/${namespace}/${plural}` })
      return ((body as { items?: ApiObject[] }).items ?? []).map((object) => ({ ...object, kind }))
    }),
  )
  return lists.flat()
}

/**
 * The objects as comparable texts. Generated names, uids, times, addresses and versions are replaced, so that equal states have
 * equal texts. Events with equal texts are counted together.
 */
export function comparableTexts(objects: readonly ApiObject[], namespace: string): string[] {
  const names = new Map<string, string>([[namespace, '<namespace>']])
  const uids = new Map<string, string>()
  const isEvent = ({ kind }: ApiObject): boolean => kind === 'Event'
  // Owners come before their dependents.
  for (const object of objects.filter((one) => !isEvent(one))) {
    const shown = shownName(object, names)
    names.set(object.metadata.name, shown)
    uids.set(object.metadata.uid, `<uid of ${object.kind} ${shown}>`)
    const hash = object.metadata.labels?.['pod-template-hash'] ?? object.metadata.labels?.['controller-revision-hash']
    if (hash !== undefined && object.kind !== 'Pod') names.set(hash, `<hash of ${shown}>`)
  }
  const replaced = (text: string): string => {
    let result = text
    for (const [uid, shown] of uids) result = result.replaceAll(uid, shown)
    for (const [name, shown] of [...names].sort(([a], [b]) => b.length - a.length)) {
      if (name !== shown) result = result.replaceAll(name, shown)
    }
    return result
      .replace(
        /\b(web|rs|job|agent|tick|stray)-(<hash[^>]*>-)?(\d-)?[bcdfghjklmnpqrstvwxz2456789]{5,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?\b/g,
        '$1-$3<generated>',
      )
      .replace(/((?:<set \d+>|<generated>)-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1<pod>')
      .replace(/("pod-template-hash":")\w+/g, '$1<hash>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replace(/\b10\.(0|96)\.\d+\.\d+/g, '<ip>')
      .replace(/kube-api-access-\w{5}/g, 'kube-api-access-<generated>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
  }
  const texts = objects.filter((one) => !isEvent(one)).map((object) => replaced(canonical(reduced(object))))
  const counts = new Map<string, number>()
  for (const event of objects.filter(isEvent)) {
    const { type, reason, message, source, reportingComponent, count, involvedObject } = event as unknown as EventFields
    const component = source?.component ?? reportingComponent
    const text = replaced(
      `Event ${component} ${type} ${involvedObject.kind}/${involvedObject.name} ${reason}: ${message}`,
    )
    // The volume binder repeats its Events with time.
    const times = component === 'persistentvolume-controller' ? 0 : (count ?? 1)
    counts.set(text, (counts.get(text) ?? 0) + times)
  }
  return [...texts, ...[...counts].map(([text, count]) => `${text} x${count}`)].sort()
}

interface EventFields {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly count?: number
  readonly involvedObject: { readonly kind: string; readonly name: string }
}

/** The name of an object, with its generated parts replaced. */
function shownName({ kind, metadata }: ApiObject, names: ReadonlyMap<string, string>): string {
  const owner = metadata.ownerReferences?.[0]
  const ofOwner = owner === undefined ? undefined : (names.get(owner.name) ?? owner.name)
  if (kind === 'ReplicaSet' && owner !== undefined) {
    return `${ofOwner}-<set ${metadata.annotations?.['deployment.kubernetes.io/revision']}>`
  }
  if (kind === 'ControllerRevision') return `${ofOwner ?? '?'}-<revision>`
  if (kind === 'Pod' && metadata.generateName !== undefined)
    return `${names.get(metadata.generateName.slice(0, -1)) ?? metadata.generateName}-<pod>`
  if (kind === 'EndpointSlice') return `${metadata.generateName ?? ''}<slice>`
  return metadata.name
}

/** Without fields that differ between any two servers. The generation of a slice counts writes, which depend on the timing. */
function reduced(object: ApiObject): object {
  const { resourceVersion: _, managedFields: __, generation, ...metadata } = object.metadata as Record<string, unknown>
  return { ...object, metadata: object.kind === 'EndpointSlice' ? metadata : { ...metadata, generation } }
}

/** JSON with sorted members. The order of conditions depends on the order of changes, so they are sorted as well. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value)
    .map(([key, item]) => [key, key === 'conditions' && Array.isArray(item) ? byType(item) : item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

function byType(conditions: readonly { readonly type: string }[]): unknown[] {
  return [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1))
}
