import type { Manager, ManagerOptions } from './manager.ts'

/** Makes a manager. Nothing is started, and nothing is asked of a server, before `start`. */
export function createManager(_options: ManagerOptions): Manager {
  throw new Error('not implemented')
}
