import { type BootstrapParts, putStatus } from '../../bootstrap/ensure-object.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { WriteUsed } from './resource-quota.ts'

/** Writes what quotas have used as the server itself, through their status. */
export function quotaWriter(parts: BootstrapParts): WriteUsed {
  return async (quota, used) => {
    const wanted = { ...quota, status: { ...quota.status, used } } as MutableObject
    await putStatus(parts, 'resourcequotas', wanted)
  }
}
