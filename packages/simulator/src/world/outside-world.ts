import { CaughtError } from '@kubewright/base'
import type { Injection } from '../define/define-fault.ts'
import { never, type SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/**
 * Wraps the state outside the cluster for one process. Each call of a method is an action of the operator: the process
 * can crash before or after it, and asynchronous calls take time and can fail. Calls of a dead process have no effect.
 */
export function connectOutside(outside: unknown, process: SimulatedProcess, world: World, path = 'world'): unknown {
  if (!isWrappable(outside)) return outside
  const wrapped = new Map<PropertyKey, unknown>()
  return new Proxy(outside, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown
      if (typeof property === 'symbol') return value
      if (typeof value !== 'function') return connectOutside(value, process, world, `${path}.${property}`)
      const known = wrapped.get(property)
      if (known !== undefined) return known
      const method = caller(target, value as Method, process, world, `${path}.${property}`)
      wrapped.set(property, method)
      return method
    },
  })
}

type Method = (...parameters: unknown[]) => unknown

function caller(target: object, method: Method, process: SimulatedProcess, world: World, text: string): Method {
  const delay = (): Promise<void> => world.clock.sleep(1)
  const after = async (result: unknown, { crash: when, lost }: Injection): Promise<unknown> => {
    if (when === 'after') process.kill()
    if (process.isDead) return never()
    await delay()
    await process.awake()
    if (lost === 'after') throw new CaughtError(`${text}: the connection was lost (simulated fault)`)
    if (when === 'between') process.kill()
    return result
  }
  return (...parameters) => {
    if (process.isDead) return never()
    const injection = world.faults.act(process, `${text}()`, undefined)
    if (injection.crash === 'before') process.kill()
    if (process.isDead) return never()
    if (injection.status !== undefined || injection.lost === 'before') {
      return delay().then(() => Promise.reject(new CaughtError(`${text}: the call failed (simulated fault)`)))
    }
    const result = method.apply(target, parameters)
    if (!(result instanceof Promise)) return result
    return result.then(
      (value: unknown) => {
        world.processes.identities.see(value)
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
