import { controllerOf, type KubeObject } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import { objectId } from './cluster-state.ts'
import type { Run } from './run-schedule.ts'
import type { Operation } from './schedule.ts'
import type { Setup, Subject } from './setup.ts'
import { type Path, valueAt } from './variants.ts'

const workloads = new Set(['Deployment', 'StatefulSet', 'ReplicaSet'])

/** A workload with its number of replicas. */
interface Workload {
  readonly id: string
  readonly replicas: number
}

/**
 * Finds a given 0 that an operator takes for an absent field: the only workload of an object has as many replicas as a field says for
 * all values but 0. `runOf` runs operations without faults.
 */
export async function ignoredZero(
  setup: Setup,
  { world, objects }: Run,
  runOf: (operations: readonly Operation[]) => Promise<Run>,
): Promise<string | undefined> {
  const [[index, variant] = [-1, 0], ...others] = world.user.desired
  const subject = setup.subjects[index]
  if (subject === undefined || others.length > 0 || world.schedule.faults.length > 0) return undefined
  const { variants, kind } = setup.samples[subject.sample]!
  const change = variants[variant % variants.length]?.change
  if (change?.value !== 0 || schemaAt(kind.schema, change.path)?.minimum !== 0) return undefined
  const actual = workloadOf(subject, objects)
  if (actual === undefined || actual.replicas === 0) return undefined
  const field = change.path.join('.')
  const seen = new Map<number, number>()
  for (const [other, { body, parts }] of variants.entries()) {
    const value = valueAt(body, change.path)
    if (typeof value !== 'number' || value === 0 || seen.has(value) || parts !== undefined) continue
    const run = await runOf([{ do: 'create', subject: index, variant: other, after: 0 }])
    const replicas = workloadOf(subject, run.objects)?.replicas
    if (replicas !== value) return undefined
    seen.set(value, replicas)
    if (seen.size === 2) break
  }
  if (seen.size < 2) return undefined
  const usual = [...seen.keys()].join(' and ')
  return `${field} = 0 is not respected: ${actual.id} has ${actual.replicas} replicas, although their number is that of the field for ${usual}`
}

/** The only workload of an object. */
function workloadOf({ kind, namespace, name }: Subject, objects: readonly KubeObject[]): Workload | undefined {
  const owner = objects.find(
    (one) => one.kind === kind.kind && one.metadata.name === name && one.metadata.namespace === namespace,
  )
  const found = objects.filter(
    (one) => owner !== undefined && workloads.has(one.kind) && controllerOf(one)?.uid === owner.metadata.uid,
  ) as readonly (KubeObject & { readonly spec?: { readonly replicas?: number } })[]
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
