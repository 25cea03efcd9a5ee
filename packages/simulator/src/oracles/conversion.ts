import type { AnyKind, KubeObject } from '@kubewright/api'
import { objectId } from '../define/object-id.ts'
import type { EndedCluster } from '../define/observer.ts'
import { comparable, differences, differenceText, formOf } from '../fairness/comparable-state.ts'
import { collectionPath } from '../plan/samples.ts'
import type { Setup } from '../world/setup.ts'
import { defineOracle, type ObservingOracle, perSimulation, type ReportViolation } from './define-oracle.ts'

/** The forms of objects that have passed, which are not checked again: conversions see nothing but the object. */
const passedForms = perSimulation(() => new Set<string>())

/**
 * The conversions of the operator lose nothing of the live objects: each is read in every other version and
 * written back unchanged. The object must be the same afterwards.
 */
export const conversion: ObservingOracle = defineOracle({
  name: 'conversion',
  property: 'reading an object in another version and writing it back changes nothing',
  needs: 'run',
  observe: ({ setup }, report) => ({
    async ended(cluster) {
      for (const { hub, spokes } of setup.operator.definition.conversions) {
        for (const object of liveObjects(cluster, hub)) {
          for (const { kind } of spokes) await checkVersion({ cluster, setup, report }, object, hub, kind)
        }
      }
    },
  }),
})

/** What a check of the live objects needs. */
export interface LiveCheck {
  readonly cluster: EndedCluster
  readonly setup: Setup
  readonly report: ReportViolation
}

/** The live objects of all versions of a kind. */
export const liveObjects = ({ objects }: EndedCluster, { kind, group }: AnyKind): readonly KubeObject[] =>
  objects.filter(
    (one) =>
      one.kind === kind && one.apiVersion.startsWith(`${group}/`) && one.metadata.deletionTimestamp === undefined,
  )

async function checkVersion(
  { cluster, setup, report }: LiveCheck,
  object: KubeObject,
  hub: AnyKind,
  other: AnyKind,
): Promise<void> {
  const id = objectId(object)
  const options = { ids: new Set([id]), statusOf: new Set([hub.kind]), ignore: setup.ignore }
  const form = `${other.version} ${formOf(object, options)}`
  if (passedForms(setup).has(form)) return
  const converted = await cluster.request('GET', pathOf(other, object))
  if (converted.status === 404) return
  if (converted.status !== 200) {
    const { message = '' } = converted.object as { message?: string | undefined }
    report(`${id} cannot be read as ${other.version}: ${message}`)
    return
  }
  const written = await cluster.request('PUT', pathOf(other, object), converted.object)
  // Admission may refuse every update in some states.
  if (written.status !== 200) return
  // At exactly these versions: the operator may write the object at any time.
  const before = await objectAt(cluster, hub, converted.object)
  const after = await objectAt(cluster, hub, written.object)
  if (before === undefined || after === undefined) return
  const found = differences(comparable([before], options), comparable([after], options))
  if (found.length === 0) passedForms(setup).add(form)
  else {
    report(
      `The conversion to ${other.version} and back changes ${differenceText(found[0]!)}`,
      found.map(differenceText),
    )
  }
}

/** An object in another version of the API, as it was at its resource version. */
async function objectAt(
  cluster: EndedCluster,
  kind: AnyKind,
  { metadata }: KubeObject,
): Promise<KubeObject | undefined> {
  const query = `fieldSelector=metadata.name%3D${metadata.name}&resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
  const { status, object } = await cluster.request('GET', `${collectionPath(kind, metadata.namespace)}?${query}`)
  return status === 200 ? (object as unknown as { readonly items: readonly KubeObject[] }).items[0] : undefined
}

/** The path of an object in a version of the API. */
export const pathOf = (kind: AnyKind, { metadata: { namespace, name } }: KubeObject): string =>
  `${collectionPath(kind, namespace)}/${name}`
