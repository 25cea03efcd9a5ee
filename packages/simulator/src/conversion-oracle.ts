import type { AnyKind, KubeObject } from '@kubewright/api'
import { comparable, differences, differenceText, formOf, objectId } from './cluster-state.ts'
import type { World } from './world.ts'

/**
 * Checks that the conversions of the operator lose nothing of the live objects: each is read in every other version and
 * written back unchanged. The object must be the same afterwards. Changes the cluster, so that it must come last.
 *
 * A form of an object that has passed is not checked again in other runs: conversions see nothing but the object.
 */
export async function checkConversions(world: World, objects: readonly KubeObject[]): Promise<void> {
  const { setup } = world
  for (const { hub, spokes } of setup.operator.conversions) {
    for (const object of objects) {
      if (object.kind !== hub.kind || !object.apiVersion.startsWith(`${hub.group}/`)) continue
      if (object.metadata.deletionTimestamp !== undefined) continue
      for (const { kind } of spokes) await checkVersion(world, object, hub, kind)
    }
  }
}

async function checkVersion(world: World, object: KubeObject, hub: AnyKind, other: AnyKind): Promise<void> {
  const { user, history, setup } = world
  const id = objectId(object)
  const options = { ids: new Set([id]), statusOf: new Set([hub.kind]), ignore: setup.ignore }
  const form = `conversion ${other.version} ${formOf(object, options)}`
  if (setup.passedForms.has(form)) return
  const converted = await world.drive(user.request('GET', pathOf(other, object)))
  if (converted.status === 404) return
  if (converted.status !== 200) {
    const { message = '' } = converted.object as { message?: string }
    history.violate('conversion', `${id} cannot be read as ${other.version}: ${message}`)
    return
  }
  const written = await world.drive(user.request('PUT', pathOf(other, object), converted.object))
  // Admission may refuse every update in some states.
  if (written.status !== 200) return
  // At exactly these versions: the operator may write the object at any time.
  const before = await objectAt(world, hub, converted.object)
  const after = await objectAt(world, hub, written.object)
  if (before === undefined || after === undefined) return
  const found = differences(comparable([before], options), comparable([after], options))
  if (found.length === 0) {
    setup.passedForms.add(form)
    return
  }
  history.violate(
    'conversion',
    `The conversion to ${other.version} and back changes ${differenceText(found[0]!)}`,
    found.map(differenceText),
  )
}

/** An object in another version of the API, as it was at its resource version. */
async function objectAt(world: World, kind: AnyKind, { metadata }: KubeObject): Promise<KubeObject | undefined> {
  const query = `fieldSelector=metadata.name%3D${metadata.name}&resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
  const { status, object } = await world.drive(world.user.request('GET', `${collectionOf(kind, metadata)}?${query}`))
  return status === 200 ? (object as unknown as { readonly items: readonly KubeObject[] }).items[0] : undefined
}

/** The path of an object in a version of the API. */
export const pathOf = (kind: AnyKind, { metadata }: KubeObject): string =>
  `${collectionOf(kind, metadata)}/${metadata.name}`

function collectionOf({ group, version, plural }: AnyKind, { namespace }: KubeObject['metadata']): string {
  return `/apis/${group}/${version}/${namespace === undefined ? plural : `namespaces/${namespace}/${plural}`}`
}
