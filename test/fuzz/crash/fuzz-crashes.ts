// Kills a server with SIGKILL at random moments while clients write and watch, restarts it on the same data, and verifies every write
// and every event.
import { seededRandom } from '@kubewright/base'
import { startEtcd } from '../../../packages/storage/src/testdata/etcd-process.ts'
import { freePort } from '../../../packages/storage/src/testdata/free-port.ts'
import { Requests } from '../../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../../up/up-process.ts'
import { RecordedWriter } from './recorded-writer.ts'
import { verifyCrash } from './verify-crash.ts'
import { type SeenChange, WatchLog } from './watch-log.ts'

/** Options of {@link fuzzCrashes}. */
export interface FuzzCrashesOptions {
  readonly seed: string
  readonly cycles: number
  /** Whether the server keeps its objects in etcd instead of a folder. @default false */
  readonly etcd?: boolean
  readonly onProgress?: (cycle: number) => void
}

/** The figures of all cycles. */
export interface FuzzCrashesReport {
  readonly cycles: number
  /** Writes with a response; each was found exactly once. */
  readonly acknowledged: number
  /** Writes that a kill interrupted; each was found once or not at all. */
  readonly undecided: number
  /** Events of all watches; each was received exactly once and in order. */
  readonly events: number
  /** Lists of all watches; more than the number of watches if the server no longer had the history. */
  readonly lists: number
  readonly mistakes: readonly string[]
}

const isEvent = ({ type }: SeenChange): boolean => type !== 'LISTED' && type !== 'ABSENT'
const writerCount = 8
const watchCount = 3
const path = '/api/v1/namespaces/default/configmaps'
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Runs the cycles on the same data, so that the state grows from cycle to cycle. Stops at the first mistake. */
export async function fuzzCrashes(options: FuzzCrashesOptions): Promise<FuzzCrashesReport> {
  using folder = new TemporaryFolder()
  await using etcd = options.etcd ? await startEtcd() : undefined
  const flags = ['--port', String(await freePort()), '--controllers', 'none', ...(etcd ? ['--etcd', etcd.url] : [])]
  const random = seededRandom(options.seed)
  let up = await UpProcess.start(flags, folder.path)
  const { kubeconfig } = up
  const watches = Array.from(
    { length: watchCount },
    (_, i) => new WatchLog(`watch ${i}`, path, new Requests(kubeconfig)),
  )
  const writers = Array.from(
    { length: writerCount },
    (_, i) => new RecordedWriter(path, `w${i}`, random.fork(`writer ${i}`)),
  )
  let cycles = 0
  let mistakes: readonly string[] = []
  try {
    await Promise.all(watches.map((watch) => watch.started()))
    while (cycles < options.cycles && mistakes.length === 0) {
      options.onProgress?.(cycles + 1)
      const before = writers.map(({ writes }) => writes.length)
      let stopped = 0
      const running = writers.map(async (writer) => {
        using requests = new Requests(kubeconfig)
        await writer.run(requests)
        stopped++
      })
      // Until the writers have made some writes, and then until a random moment of the next ones.
      // A writer also stops after a server error, such as a timeout of a busy etcd.
      while (stopped === 0 && writers.some(({ writes }, i) => writes.length < before[i]! + 10)) await pause(1)
      await pause(random.int(300))
      await up.stop('SIGKILL')
      await Promise.all(running)
      up = await UpProcess.start(flags, folder.path)
      mistakes = await verifyCrash(up, path, writers, watches)
      cycles++
    }
  } finally {
    for (const watch of watches) await watch.stop()
    await up[Symbol.asyncDispose]()
  }
  const writes = writers.flatMap((writer) => writer.writes)
  const acknowledged = writes.filter(({ version }) => version !== undefined).length
  return {
    ...{ cycles, acknowledged, mistakes, undecided: writes.length - acknowledged },
    events: watches.reduce((sum, { changes }) => sum + changes.filter(isEvent).length, 0),
    lists: watches.reduce((sum, { lists }) => sum + lists, 0),
  }
}
