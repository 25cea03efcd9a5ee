import { controllerOf, type KubeObject } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import { objectId } from '../define/object-id.ts'
import type { Subject } from '../plan/samples.ts'
import { type Path, valueAt } from '../plan/variants.ts'
import { defineOracle, type RerunOracle } from './define-oracle.ts'

const workloads = new Set(['Deployment', 'StatefulSet', 'ReplicaSet'])

/** A workload with its number of replicas. */
interface Workload {
  readonly id: string
  readonly replicas: number
}

/**
 * Finds a given 0 that an operator takes for an absent field: the only workload of an object has as many replicas as a field says for
 * all values but 0.
 */
export const zeroReplicas: RerunOracle = defineOracle({
  name: 'end state',
  property: 'a field with the number of replicas is also respected when it is 0',
  needs: 'rerun',
  async check({ run: { world, objects }, rerun }, report) {
    const { samples } = world.setup
    const [[index, variant] = [-1, 0], ...others] = world.user.desired
    const subject = samples.subjects[index]
    if (subject === undefined || others.length > 0 || world.schedule.faults.length > 0) return
    const { variants, kind } = samples.list[subject.sample]!
    const { change } = samples.formOf(subject, variant)
    if (change?.value !== 0 || schemaAt(kind.schema, change.path)?.minimum !== 0) return
    const actual = workloadOf(subject, objects)
    if (actual === undefined || actual.replicas === 0) return
    const field = change.path.join('.')
    const seen = new Map<number, number>()
    for (const [other, { body, parts }] of variants.entries()) {
      const value = valueAt(body, change.path)
      if (typeof value !== 'number' || value === 0 || seen.has(value) || parts !== undefined) continue
      const sized = await rerun({
        seed: world.schedule.seed,
        operations: [{ do: 'create', subject: index, variant: other, after: 0 }],
        faults: [],
        replicas: 1,
      })
      const replicas = workloadOf(subject, sized.objects)?.replicas
      if (replicas !== value) return
      seen.set(value, replicas)
      if (seen.size === 2) break
    }
    if (seen.size < 2) return
    const usual = [...seen.keys()].join(' and ')
    report(
      `${field} = 0 is not respected: ${actual.id} has ${actual.replicas} replicas, although their number is that of the field for ${usual}`,
    )
  },
})

/** The only workload of an object. */
function workloadOf({ id }: Subject, objects: readonly KubeObject[]): Workload | undefined {
  const owner = objects.find((one) => objectId(one) === id)
  const found = objects.filter(
    (one) => owner !== undefined && workloads.has(one.kind) && controllerOf(one)?.uid === owner.metadata.uid,
  ) as readonly (KubeObject & { readonly spec?: { readonly replicas?: number | undefined } | undefined })[]
  const [first] = found
  return first === undefined || found.length > 1
    ? undefined
    : { id: objectId(first), replicas: first.spec?.replicas ?? 1 }
}

const schemaAt = (schema: JSONSchemaProps, path: Path): JSONSchemaProps | undefined =>
  path.reduce<JSONSchemaProps | undefined>(
    (part, name) => (typeof name === 'number' ? part?.items : part?.properties?.[name]),
    schema,
  )
