import type { KubeObject } from '@kubewright/api'

// What is different in every run: identities, addresses and times. That there is one is the same.
const fleeting = new Set([
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

/** What objects have in common with those of another run that came to the same end. */
export function lasting(objects: readonly KubeObject[]): unknown {
  return objects.map(withoutFleeting)
}

function withoutFleeting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFleeting)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      if (fleeting.has(name)) return [name, typeof part]
      return [name, name === 'managedFields' ? managers(part) : withoutFleeting(part)]
    }),
  )
}

/** Who wrote, without the fields: those of owner references have identities in them. */
function managers(fields: unknown): string[] {
  const entries = fields as { readonly manager: string; readonly operation: string; readonly subresource?: string }[]
  return entries.map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`).sort()
}
