import { type Clock, type Logger, toMillis } from '@kubewright/base'

const retryPause = '5s'

/**
 * Starts a part of the control plane. If it fails, the control plane runs without the part, which starts again later: one object that it
 * cannot handle must not keep the server from being ready. Disposal ends the attempts, and the part.
 */
export async function startPersistently(
  name: string,
  start: () => Promise<AsyncDisposable | void>,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<AsyncDisposable> {
  const stop = new AbortController()
  let running: AsyncDisposable | undefined
  const attempt = async (): Promise<boolean> => {
    try {
      running = (await start()) ?? undefined
      return true
    } catch (error) {
      if (!stop.signal.aborted)
        log.error(error, 'Controller cannot start yet; retrying while the others run', { controller: name })
      return false
    }
  }
  const repeat = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(toMillis(retryPause), { signal: stop.signal }).catch(() => undefined)
      if (stop.signal.aborted || (await attempt())) return
    }
  }
  const attempts = (await attempt()) ? Promise.resolve() : repeat()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('The control plane was stopped'))
      await attempts
      await running?.[Symbol.asyncDispose]()
    },
  }
}
