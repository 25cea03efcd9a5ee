import type { KubeObject } from '@kubewright/api'

// Fields whose values differ in every run: identities, addresses and times. Only their presence is compared.
const volatileFields = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastSyncTime',
  'clusterIP',
  'clusterIPs',
  'secsynch.study.dev/source-version',
])

/** The part of objects that is equal in every run with the same outcome. */
export function reproducible(objects: readonly KubeObject[]): unknown {
  return objects.map(withoutVolatile)
}

function withoutVolatile(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVolatile)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      if (volatileFields.has(name)) return [name, typeof part]
      return [name, name === 'managedFields' ? managers(part) : withoutVolatile(part)]
    }),
  )
}

/** The field managers without their fields, because the fields of owner references contain uids. */
function managers(fields: unknown): string[] {
  const entries = fields as { readonly manager: string; readonly operation: string; readonly subresource?: string }[]
  return entries.map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`).sort()
}
