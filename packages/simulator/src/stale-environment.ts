import { controllerOf, type KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'
import type { Run } from './run-schedule.ts'

type Values = Readonly<Record<string, string>>

interface Version {
  readonly time: number
  readonly values: Values
}

/** The values of the ConfigMaps and Secrets that the operator writes, over time. */
export class ConfigLog {
  readonly #versions = new Map<string, Version[]>()

  /** Records the result of a write at a wall time. */
  see(object: KubeObject, time: number): void {
    if (object.kind !== 'ConfigMap' && object.kind !== 'Secret') return
    const { data = {} } = object as { data?: Values }
    const id = objectId(object)
    const versions = this.#versions.get(id) ?? []
    this.#versions.set(id, versions)
    versions.push({ time, values: data })
  }

  /** The values of an object at a time; undefined if the operator had not written it. */
  at(id: string, time: number): Values | undefined {
    return this.#versions.get(id)?.findLast((version) => version.time <= time)?.values
  }
}

interface Selector {
  readonly name?: string
  readonly key?: string
}

interface Container {
  readonly name: string
  readonly env?: readonly {
    readonly name: string
    readonly valueFrom?: { readonly configMapKeyRef?: Selector; readonly secretKeyRef?: Selector }
  }[]
  readonly envFrom?: readonly { readonly configMapRef?: Selector; readonly secretRef?: Selector }[]
}

interface Pod extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[] }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly state?: { readonly running?: { readonly startedAt?: string } }
    }[]
  }
}

// Times of objects are whole seconds.
const precision = 1000

/** How an operator replaces pods whose environment variables change. */
export const environmentHint =
  'a change of the pod template, such as an annotation with a hash of the values, rolls out new pods'

/** Checks a run without faults for environment variables with former values. */
export function checkEnvironment(run: Run): void {
  const { history, schedule } = run.world
  const found = schedule.faults.length > 0 ? undefined : staleEnvironmentOf(run)
  if (found !== undefined) history.violate('end state', found, [environmentHint])
}

/**
 * Environment variables keep their values while a container runs. When the operator changes a ConfigMap or Secret from which a workload
 * of its own takes them, it must also replace the pods. Returns the first one that it has not replaced, as a sentence.
 */
export function staleEnvironmentOf({ world: { log }, objects }: Run): string | undefined {
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

interface Source {
  readonly kind: string
  readonly name: string | undefined
  /** Undefined for all keys. */
  readonly key?: string | undefined
}

/** The objects from which a container takes environment variables. */
function sourcesOf({ env = [], envFrom = [] }: Container): Source[] {
  const found: Source[] = []
  for (const { valueFrom } of env) {
    const { configMapKeyRef: config, secretKeyRef: secret } = valueFrom ?? {}
    if (config !== undefined) found.push({ kind: 'ConfigMap', name: config.name, key: config.key })
    if (secret !== undefined) found.push({ kind: 'Secret', name: secret.name, key: secret.key })
  }
  for (const { configMapRef: config, secretRef: secret } of envFrom) {
    if (config !== undefined) found.push({ kind: 'ConfigMap', name: config.name })
    if (secret !== undefined) found.push({ kind: 'Secret', name: secret.name })
  }
  return found
}
