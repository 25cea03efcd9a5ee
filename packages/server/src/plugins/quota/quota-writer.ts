import type { MutableObject } from '../../resource/object.ts'
import type { SystemWriter } from '../../verbs/write/system-writer.ts'
import type { WriteUsed } from './resource-quota.ts'

/** Writes the usage of a quota to its status on behalf of the server. */
export function quotaWriter(writer: SystemWriter): WriteUsed {
  return async (quota, used) => {
    const wanted = { ...quota, status: { ...quota.status, used } } as MutableObject
    await writer.putStatus('resourcequotas', wanted)
  }
}
