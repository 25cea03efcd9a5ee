import type { MutableObject } from '../../resource/object.ts'
import type { Strategy, StrategyContext } from '../../resource/strategy.ts'

type Check = (object: MutableObject, old: MutableObject | undefined, context: StrategyContext) => Promise<void>

/**
 * Hooks that reject a write if it grants permissions that the user does not have. Without a check they accept every write. They reserve
 * nothing, so there is nothing to undo.
 */
export function escalationHooks(check?: Check): Pick<Strategy, 'beginCreate' | 'beginUpdate'> {
  return {
    beginCreate: async (object, context) => {
      await check?.(object, undefined, context)
      return undefined
    },
    beginUpdate: async (object, old, context) => {
      await check?.(object, old, context)
      return undefined
    },
  }
}
