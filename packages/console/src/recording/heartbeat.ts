import { deepEqual, isJsonObject } from '@kubewright/base'
import type { Json } from '../cluster/json.ts'

/** Fields that change with every write, and those that a component renews to show that it is alive. */
const renewed = new Set(['resourceVersion', 'managedFields', 'renewTime', 'lastHeartbeatTime'])

/** Whether objects of this kind are written periodically as a sign of life. */
export const hasHeartbeats = ({ kind }: Json): boolean => kind === 'Lease' || kind === 'Node'

/** Whether two states of an object with heartbeats differ in nothing else. */
export function isHeartbeat(before: Json, after: Json): boolean {
  return deepEqual(lasting(before), lasting(after))
}

/** A copy without the renewed fields. */
function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([field, inner]) => (renewed.has(field) ? [] : [[field, lasting(inner)]])),
  )
}
