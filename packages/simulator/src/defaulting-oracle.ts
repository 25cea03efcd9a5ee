import type { KubeObject } from '@kubewright/api'
import { comparable, differences, differenceText, formOf, objectId } from './cluster-state.ts'
import { pathOf } from './conversion-oracle.ts'
import type { World } from './world.ts'

/**
 * Checks that the defaulting webhooks of the operator are idempotent: an object that is written back unchanged must keep its spec.
 * Changes the cluster, so that it must come last. A form of an object that has passed is not checked again in other runs.
 */
export async function checkDefaults(world: World, objects: readonly KubeObject[]): Promise<void> {
  for (const webhook of world.setup.operator.webhooks) {
    if (webhook.type !== 'kind' || webhook.defaulting === undefined) continue
    const { kind } = webhook
    for (const object of objects) {
      if (object.kind !== kind.kind || !object.apiVersion.startsWith(`${kind.group}/`)) continue
      if (object.metadata.deletionTimestamp !== undefined) continue
      await checkObject(world, object, pathOf(kind, object))
    }
  }
}

async function checkObject(world: World, object: KubeObject, path: string): Promise<void> {
  const { user, history, setup } = world
  const id = objectId(object)
  const options = { ids: new Set([id]), statusOf: new Set<string>(), ignore: setup.ignore }
  const form = `defaults ${formOf(object, options)}`
  if (setup.passedForms.has(form)) return
  const before = await world.drive(user.request('GET', path))
  if (before.status !== 200) return
  const after = await world.drive(user.request('PUT', path, before.object))
  // Admission may refuse every update in some states.
  if (after.status !== 200) return
  const found = differences(comparable([before.object], options), comparable([after.object], options)).filter(
    ({ path: field }) => /^spec\b/.test(field),
  )
  if (found.length === 0) {
    setup.passedForms.add(form)
    return
  }
  history.violate(
    'admission',
    `The defaulting webhook changes an object that is written unchanged: ${differenceText(found[0]!)}`,
    found.map(differenceText),
  )
}
