import type { Profiler } from '../serving/http/profiler.ts'

/** Profiles this process. The inspector is loaded by the first profile: importing it has a cost. */
export const systemProfiler: Profiler = {
  startCpu: async () => {
    const { Session } = await import('node:inspector/promises')
    const session = new Session()
    session.connect()
    try {
      await session.post('Profiler.enable')
      await session.post('Profiler.start')
    } catch (error) {
      session.disconnect()
      throw error
    }
    return async () => {
      try {
        const { profile } = await session.post('Profiler.stop')
        return JSON.stringify(profile)
      } finally {
        session.disconnect()
      }
    }
  },
  heap: async () => {
    const { getHeapSnapshot } = await import('node:v8')
    return getHeapSnapshot() as AsyncIterable<Uint8Array>
  },
}
