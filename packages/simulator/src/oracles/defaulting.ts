import type { KubeObject } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { objectId } from '../define/object-id.ts'
import { comparable, differences, differenceText, formOf } from '../fairness/comparable-state.ts'
import { valueAt } from '../plan/variants.ts'
import { type LiveCheck, liveObjects, pathOf } from './conversion.ts'
import { defineOracle, type ObservingOracle, perSimulation } from './define-oracle.ts'

/** The forms of objects that have passed, which are not written again. */
const passedForms = perSimulation(() => new Set<string>())

/**
 * The defaulting webhooks of the operator are idempotent: an object that is written back unchanged must keep its spec; and
 * they keep the values of users, also 0 and false.
 */
export const defaulting: ObservingOracle = defineOracle({
  name: 'admission',
  property:
    'defaulting webhooks leave an object alone that is written unchanged, and do not take a given 0 or false for an absent field',
  needs: 'run',
  observe: ({ setup, schedule }, report) =>
    schedule.faults.length > 0 ? {} : { ended: (cluster) => checkObjects({ cluster, setup, report }) },
})

async function checkObjects(parts: LiveCheck): Promise<void> {
  for (const webhook of parts.setup.operator.definition.webhooks) {
    if (webhook.type !== 'kind' || webhook.defaulting === undefined) continue
    const { kind } = webhook
    for (const object of liveObjects(parts.cluster, kind)) {
      await checkObject(parts, object, pathOf(kind, object))
      await checkGivenValues(parts, object)
    }
  }
}

async function checkObject({ cluster, setup, report }: LiveCheck, object: KubeObject, path: string): Promise<void> {
  const id = objectId(object)
  const options = { ids: new Set([id]), statusOf: new Set<string>(), ignore: setup.ignore }
  const form = formOf(object, options)
  if (passedForms(setup).has(form)) return
  const before = await cluster.request('GET', path)
  if (before.status !== 200) return
  const after = await cluster.request('PUT', path, before.object)
  // Admission may refuse every update in some states.
  if (after.status !== 200) return
  const found = differences(comparable([before.object], options), comparable([after.object], options)).filter(
    ({ path: field }) => /^spec\b/.test(field),
  )
  if (found.length === 0) passedForms(setup).add(form)
  else {
    report(
      `The defaulting webhook changes an object that is written unchanged: ${differenceText(found[0]!)}`,
      found.map(differenceText),
    )
  }
}

/**
 * Reports a given 0 or false that is stored as the value that an absent field gets. A 0 counts if the schema names it as the minimum:
 * in other fields, it often means "the default".
 */
async function checkGivenValues({ cluster, setup, report }: LiveCheck, object: KubeObject): Promise<void> {
  const { samples } = setup
  const index = samples.indexOf(object)
  const subject = samples.subjects[index]
  const variant = cluster.desired.get(index)
  if (subject === undefined || variant === undefined) return
  const { body } = samples.formOf(subject, variant)
  for (const path of emptyValuesOf(subject.kind.schema, body, [])) {
    const given = valueAt(body, path)
    const stored = valueAt(object, path)
    if (stored === undefined || stored === given) continue
    const draft = samples.objectOf({ ...subject, name: `${subject.name}-default` }, without(body, path))
    const absent = await cluster.request('POST', `${subject.collection}?dryRun=All`, draft)
    if (absent.status !== 201 || valueAt(absent.object, path) !== stored) continue
    const field = path.join('.')
    report(
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
  if (!isJsonObject(value)) return
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (name === 'metadata' || name === 'status') continue
    yield* emptyValuesOf(part, value[name], [...path, name])
  }
}

function without(body: object, path: readonly string[]): object {
  const copy = structuredClone(body)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>
  delete parent[path.at(-1)!]
  return copy
}
