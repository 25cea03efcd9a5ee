import { isJsonObject } from '@kubewright/base'
import { type Json, objectAt } from './json.ts'

const hidden = '••••••••'
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** Whether an object is a Secret, whose values are masked. */
export function isSecret(object: Json): boolean {
  return object['kind'] === 'Secret' && object['apiVersion'] === 'v1'
}

/** Hides the values of a Secret, and the copy of them that `kubectl apply` keeps in an annotation. */
export function maskSecret(object: Json): Json {
  const masked: Record<string, unknown> = { ...object }
  for (const field of ['data', 'stringData'])
    if (isJsonObject(object[field])) masked[field] = mapValues(objectAt(object, field), () => hidden)
  const metadata = objectAt(object, 'metadata')
  const annotations = objectAt(metadata, 'annotations')
  if (lastApplied in annotations)
    masked['metadata'] = { ...metadata, annotations: { ...annotations, [lastApplied]: hidden } }
  return masked
}

function mapValues(fields: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value)]))
}
