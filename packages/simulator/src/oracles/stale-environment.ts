import { controllerOf, type KubeObject } from '@kubewright/api'
import type { Pod } from '@kubewright/k8s'
import { objectId } from '../define/object-id.ts'
import { calmly } from '../define/schedule.ts'
import type { Run } from '../world/run-schedule.ts'
import { defineOracle, type RerunOracle, type RunOracle } from './define-oracle.ts'

// Times of objects are whole seconds.
const precision = 1000

type Container = NonNullable<Pod['spec']>['containers'][number]

/** How an operator replaces pods whose environment variables change. */
const hint = 'a change of the pod template, such as an annotation with a hash of the values, rolls out new pods'

/** Checks runs without faults for environment variables with former values. */
export const staleEnvironment: RunOracle = defineOracle({
  name: 'end state',
  property: 'pods do not keep environment variables from a former ConfigMap or Secret of the operator',
  needs: 'run',
  check(run, report) {
    const found = run.world.schedule.faults.length > 0 ? undefined : staleEnvironmentOf(run)
    if (found !== undefined) report(found, [hint])
  },
})

/** No crash and no failed request leaves pods with former environment variables that the operator replaces otherwise. */
export const staleEnvironmentAfterFault: RerunOracle = defineOracle({
  name: 'end state',
  property: 'nor after a crash or a failed request, if the operator replaces such pods otherwise',
  needs: 'rerun',
  async check({ run, rerun }, report) {
    const { schedule, setup } = run.world
    const { faults } = schedule
    if (faults.length === 0 || !faults.every((fault) => /^(crash|error)$/.test(setup.faults.classOf(fault)))) return
    const found = staleEnvironmentOf(run)
    if (found === undefined || staleEnvironmentOf(await rerun(calmly(schedule))) !== undefined) return
    report(`The end state depends on the fault: ${found}`, [hint])
  },
})

/**
 * Environment variables keep their values while a container runs. When the operator changes a ConfigMap or Secret from which a workload
 * of its own takes them, it must also replace the pods. Returns the first one that it has not replaced, as a sentence.
 */
function staleEnvironmentOf({ world: { log }, objects }: Run): string | undefined {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]))
  const isOfOperator = (object: KubeObject | undefined): boolean =>
    object !== undefined &&
    (log.written.has(objectId(object)) || isOfOperator(byUid.get(controllerOf(object)?.uid ?? '')))
  for (const pod of objects as readonly Pod[]) {
    const { namespace, deletionTimestamp } = pod.metadata
    if (pod.kind !== 'Pod' || pod.status?.phase !== 'Running' || deletionTimestamp !== undefined) continue
    if (!isOfOperator(pod)) continue
    const sources = (pod.spec?.containers ?? []).flatMap((container) =>
      sourcesOf(container).map((source) => ({ ...source, start: startOf(pod, container) })),
    )
    for (const { kind, name, key, start } of sources) {
      const id = `${kind} ${namespace}/${name}`
      const before = log.configs.at(id, start)
      const after = log.configs.at(id, Number.POSITIVE_INFINITY)
      if (before === undefined || after === undefined) continue
      const keys = key === undefined ? Object.keys({ ...before, ...after }) : [key]
      const changed = keys.find((one) => before[one] !== after[one])
      if (changed === undefined) continue
      return `${objectId(pod)} still runs with the former ${changed} of ${id}: environment variables do not follow their source`
    }
  }
  return undefined
}

/** When a container took its environment variables, at the latest. */
function startOf({ metadata, status }: Pod, { name }: Container): number {
  const running = status?.containerStatuses?.find((one) => one.name === name)?.state?.running
  return Date.parse(running?.startedAt ?? `${metadata.creationTimestamp}`) + precision
}

/** The objects from which a container takes environment variables, and the key; undefined for all keys. */
function sourcesOf({ env = [], envFrom = [] }: Container): Source[] {
  const references: [kind: string, Reference | undefined][] = [
    ...env.flatMap(({ valueFrom }): typeof references => [
      ['ConfigMap', valueFrom?.configMapKeyRef],
      ['Secret', valueFrom?.secretKeyRef],
    ]),
    ...envFrom.flatMap(({ configMapRef, secretRef }): typeof references => [
      ['ConfigMap', configMapRef],
      ['Secret', secretRef],
    ]),
  ]
  return references.flatMap(([kind, reference]) => (reference === undefined ? [] : [{ kind, ...reference }]))
}

type Reference = { readonly name?: string | undefined; readonly key?: string | undefined }
type Source = Reference & { readonly kind: string }
