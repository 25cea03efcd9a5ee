import type { Json } from '../cluster/json.ts'
import type { LeverAction } from '../wire/lever-view.ts'
import type { PageRequest } from '../wire/messages.ts'
import type { ObjectName, ResourceName } from '../wire/names.ts'

const types: ReadonlySet<string> = new Set<LeverAction['type']>([
  'crash',
  'freeze',
  'unfreeze',
  'cutWatches',
  'failWrites',
  'disarm',
  'control',
  'advance',
])
const maxWrites = 1000
const maxAdvance = 366 * 24 * 60 * 60_000

/** Whether a request needs the levers. */
export function isLeverAction(request: PageRequest): request is LeverAction {
  return types.has(request.type)
}

/** Checks the body of a lever request. Returns undefined for one that the page does not send. */
export function parseLeverAction(
  body: Json,
  { object, resource }: { readonly object: ObjectName | undefined; readonly resource: ResourceName | undefined },
): LeverAction | undefined {
  const { type, status, count, id, operator, controller, command, millis } = body
  switch (type) {
    case 'crash':
    case 'freeze':
    case 'unfreeze':
      return object?.resource.plural === 'pods' && object.resource.group === '' ? { type, object } : undefined
    case 'cutWatches':
      return resource && { type, resource }
    case 'failWrites':
      if (!isCount(status, 599) || !isCount(count, maxWrites) || count === 0) return undefined
      return resource && { type, resource, status, count }
    case 'disarm':
      return isCount(id, Number.MAX_SAFE_INTEGER) ? { type, id } : undefined
    case 'control':
      if (command !== 'pause' && command !== 'step' && command !== 'resume') return undefined
      if (!isCount(operator, 1000) || typeof controller !== 'string') return undefined
      return { type, operator, controller, command }
    case 'advance':
      return isCount(millis, maxAdvance) ? { type, millis } : undefined
  }
  return undefined
}

function isCount(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max
}
