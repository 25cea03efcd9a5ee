import type { Clock } from '@kubewright/base'
import { type HttpHandler, type HttpResponse, textResponse } from '../serving/http/http-handler.ts'
import type { Profiler } from '../serving/http/profiler.ts'

const maxSeconds = 300
const defaultSeconds = 30

/**
 * Serves profiles: `/debug/profile?seconds=N` is a CPU profile of the next N seconds (default 30), `/debug/heap` a
 * snapshot of the heap. Chrome DevTools and most editors open both. Checks no access: the caller does.
 */
export function profileHandler(profiler: Profiler, clock: Clock): HttpHandler {
  let isProfiling = false
  return async ({ path, query, signal }) => {
    if (path === '/debug/heap') {
      return { ...attachment('heap.heapsnapshot'), body: '', chunks: await profiler.heap() }
    }
    if (path !== '/debug/profile') return textResponse(404, '404 page not found\n')
    const seconds = Number(query.get('seconds') ?? defaultSeconds)
    if (!(seconds > 0 && seconds <= maxSeconds)) {
      return textResponse(400, `Invalid seconds "${query.get('seconds')}": use a number from 1 to ${maxSeconds}\n`)
    }
    if (isProfiling) return textResponse(409, 'Another CPU profile is running: try again when it has ended\n')
    isProfiling = true
    try {
      const stop = await profiler.startCpu()
      // A client that disconnects ends the profile early.
      await clock.sleep(seconds * 1000, { signal }).catch(() => undefined)
      return { ...attachment('cpu.cpuprofile'), body: await stop() }
    } finally {
      isProfiling = false
    }
  }
}

function attachment(file: string): Omit<HttpResponse, 'body'> {
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${file}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  }
}
