import type { KubeObject } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import { comparable, differences, differenceText, formOf, objectId } from './cluster-state.ts'
import { pathOf } from './conversion-oracle.ts'
import { valueAt } from './variants.ts'
import type { World } from './world.ts'

/**
 * Checks that the defaulting webhooks of the operator are idempotent: an object that is written back unchanged must keep its spec; and that
 * they keep the values of users, also 0 and false. Changes the cluster, so that it must come last. A form of an object that has passed is
 * not written again in other runs.
 */
export async function checkDefaults(world: World, objects: readonly KubeObject[]): Promise<void> {
  for (const webhook of world.setup.operator.webhooks) {
    if (webhook.type !== 'kind' || webhook.defaulting === undefined) continue
    const { kind } = webhook
    for (const object of objects) {
      if (object.kind !== kind.kind || !object.apiVersion.startsWith(`${kind.group}/`)) continue
      if (object.metadata.deletionTimestamp !== undefined) continue
      await checkObject(world, object, pathOf(kind, object))
      await checkGivenValues(world, object)
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

/**
 * Reports a given 0 or false that is stored as the value that an absent field gets. A 0 counts if the schema names it as the minimum:
 * in other fields, it often means "the default".
 */
async function checkGivenValues(world: World, object: KubeObject): Promise<void> {
  const { user, setup, history } = world
  const { kind, metadata } = object
  const index = setup.subjects.findIndex(
    (one) => one.kind.kind === kind && one.name === metadata.name && one.namespace === metadata.namespace,
  )
  const subject = setup.subjects[index]
  const variant = user.desired.get(index)
  if (subject === undefined || variant === undefined) return
  const body = setup.bodyOf(subject, variant)
  for (const path of emptyValuesOf(subject.kind.schema, body, [])) {
    const given = valueAt(body, path)
    const stored = valueAt(object, path)
    if (stored === undefined || stored === given) continue
    const draft = setup.objectOf({ ...subject, name: `${subject.name}-default` }, without(body, path))
    const absent = await world.drive(user.request('POST', `${subject.collection}?dryRun=All`, draft))
    if (absent.status !== 201 || valueAt(absent.object, path) !== stored) continue
    const field = path.join('.')
    history.violate(
      'admission',
      `The defaulting webhook replaces ${field} = ${String(given)} of ${objectId(object)} by ${String(stored)}, as if the field were absent`,
    )
    return
  }
}

/** The paths of the fields that are 0 or false. */
function* emptyValuesOf(
  schema: JSONSchemaProps,
  value: unknown,
  path: readonly string[],
): Generator<readonly string[]> {
  if (value === false || (value === 0 && schema.minimum === 0)) yield path
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (name === 'metadata' || name === 'status') continue
    yield* emptyValuesOf(part, (value as Record<string, unknown>)[name], [...path, name])
  }
}

function without(body: object, path: readonly string[]): object {
  const copy = structuredClone(body)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>
  delete parent[path.at(-1)!]
  return copy
}
