import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, every, type Logger } from '@kubewright/base'

/** The parts that {@link followFile} uses. */
export interface FollowFileParts {
  readonly clock: Clock
  readonly log: Logger
}

/** How often the file is read even without a notification, as kube-apiserver does. */
const period = 60_000

/**
 * Calls `changed` with the new contents whenever a file has changed. Calls do not overlap. Contents for which `changed` resolves to `retry` are
 * passed again a minute later; all other contents are passed once. Watches the folder, because editors and mounted ConfigMaps replace files.
 */
export function followFile(
  path: string,
  initial: string,
  changed: (text: string) => Promise<'done' | 'retry'>,
  { clock, log }: FollowFileParts,
): AsyncDisposable {
  let last = initial
  let running: Promise<void> | undefined
  let isStale = false
  const read = async (): Promise<void> => {
    try {
      const text = await readFile(path, 'utf8')
      if (text !== last && (await changed(text)) === 'done') last = text
    } catch (error) {
      log.error(error, 'Cannot read a configuration file', { file: path })
    }
  }
  const check = (): void => {
    if (running) {
      isStale = true
      return
    }
    running = read().finally(() => {
      running = undefined
      if (!isStale) return
      isStale = false
      check()
    })
  }
  const timer = every(clock, period, check, 'read configuration file')
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(dirname(path), { persistent: false }, check)
    watcher.on('error', (error) => log.error(error, 'Cannot watch a configuration file', { file: path }))
  } catch (error) {
    log.error(error, 'Cannot watch a configuration file', { file: path })
  }
  return {
    [Symbol.asyncDispose]: async () => {
      timer.cancel()
      watcher?.close()
      isStale = false
      await running
    },
  }
}
