import type { Injection } from './network.ts'
import { never, type SimulatedProcess } from './process.ts'

/** The parts of {@link connectWorld}. */
export interface ConnectWorldParts {
  readonly process: SimulatedProcess
  readonly act: (text: string) => Injection
  readonly crash: () => void
  /** Receives the results of asynchronous calls. */
  readonly returned: (value: unknown) => void
  /** Waits for the latency of a call. */
  readonly delay: () => Promise<void>
}

/**
 * Wraps the state outside the cluster for one process. Each call of a method is an action of the operator: the process
 * can crash before or after it, and asynchronous calls take time and can fail. Calls of a dead process have no effect.
 */
export function connectWorld<World>(world: World, parts: ConnectWorldParts, path = 'world'): World {
  if (!isWrappable(world)) return world
  const wrapped = new Map<PropertyKey, unknown>()
  return new Proxy(world, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown
      if (typeof property === 'symbol') return value
      if (typeof value !== 'function') return connectWorld(value, parts, `${path}.${property}`)
      const known = wrapped.get(property)
      if (known !== undefined) return known
      const method = caller(target, value as Method, parts, `${path}.${property}`)
      wrapped.set(property, method)
      return method
    },
  })
}

type Method = (...parameters: unknown[]) => unknown

function caller(target: object, method: Method, parts: ConnectWorldParts, text: string): Method {
  const { process, act, crash, delay } = parts
  const after = async (result: unknown, { crash: when, lost }: Injection): Promise<unknown> => {
    if (when === 'after') crash()
    if (process.isDead) return never()
    await delay()
    await process.awake()
    if (lost === 'after') throw new Error(`${text}: the connection was lost (simulated fault)`)
    if (when === 'between') crash()
    return result
  }
  return (...parameters) => {
    if (process.isDead) return never()
    const injection = act(`${text}()`)
    if (injection.crash === 'before') crash()
    if (process.isDead) return never()
    if (injection.status !== undefined || injection.lost === 'before') {
      return delay().then(() => Promise.reject(new Error(`${text}: the call failed (simulated fault)`)))
    }
    const result = method.apply(target, parameters)
    if (!(result instanceof Promise)) return result
    return result.then(
      (value: unknown) => {
        parts.returned(value)
        return after(value, injection)
      },
      async (error: unknown) => {
        await after(undefined, injection)
        throw error
      },
    )
  }
}

/** Objects with methods are wrapped, data is not. */
function isWrappable(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return !(Array.isArray(value) || value instanceof Map || value instanceof Set || value instanceof Date)
}
