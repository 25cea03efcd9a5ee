import type { KubeObject } from '@kubewright/api'

/** Identifies an object in messages: `Deployment default/web`. */
export function objectId({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
}

/** The kind of an object, by its ID. */
export const kindOf = (id: string): string => id.slice(0, id.indexOf(' '))

/** Kinds that hold data. Many operators keep their objects on purpose when they shrink. */
export const dataKinds: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'PersistentVolume'])

/** All texts in a value, at any depth. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** A condition in the status of an object. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly observedGeneration?: number | undefined
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { conditions } = (object as { status?: { conditions?: unknown } | null | undefined }).status ?? {}
  return Array.isArray(conditions) ? (conditions as Condition[]) : []
}

/** Describes conditions: `Ready=True`. */
export const conditionTexts = (object: KubeObject): string[] =>
  conditionsOf(object).map(({ type, status }) => `${type}=${status}`)

/** The types of the conditions that promise that an object works. */
export const promises: ReadonlySet<string> = new Set(['Ready', 'Available'])

export const phaseOf = (object: KubeObject): unknown =>
  (object as { status?: { phase?: unknown } | null | undefined }).status?.phase

/** Whether an object is a pod whose work is done. */
export const isFinishedPod = (object: KubeObject): boolean =>
  object.kind === 'Pod' && /^(Succeeded|Failed)$/.test(String(phaseOf(object)))
