import type { AnyKind, KubeObject } from '@kubewright/api'
import { comparable, differences, differenceText, objectId } from './cluster-state.ts'
import type { World } from './world.ts'

/**
 * Checks that the conversions of the operator lose nothing of the live objects: each is read in every other version and
 * written back unchanged. The object must be the same afterwards. Changes the cluster, so that it must come last.
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
  const before = await world.drive(user.request('GET', pathOf(hub, object)))
  const converted = await world.drive(user.request('GET', pathOf(other, object)))
  if (before.status !== 200) return
  if (converted.status !== 200) {
    const { message = '' } = converted.object as { message?: string }
    history.violate('conversion', `${id} cannot be read as ${other.version}: ${message}`)
    return
  }
  const written = await world.drive(user.request('PUT', pathOf(other, object), converted.object))
  // Admission may refuse every update in some states.
  if (written.status !== 200) return
  const after = await world.drive(user.request('GET', pathOf(hub, object)))
  const options = { ids: new Set([id]), statusOf: new Set([hub.kind]), ignore: setup.ignore }
  const found = differences(comparable([before.object], options), comparable([after.object], options))
  if (found.length === 0) return
  history.violate(
    'conversion',
    `The conversion to ${other.version} and back changes ${differenceText(found[0]!)}`,
    found.map(differenceText),
  )
}

function pathOf({ group, version, plural }: AnyKind, { metadata }: KubeObject): string {
  const { namespace, name } = metadata
  const place = namespace === undefined ? plural : `namespaces/${namespace}/${plural}`
  return `/apis/${group}/${version}/${place}/${name}`
}
