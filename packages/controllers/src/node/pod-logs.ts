import { fromTime, type PodLogRequest } from '@kubewright/api'
import type { Clock } from '@kubewright/base'

/** The part of a log request that selects lines. */
export type LogQuery = Omit<PodLogRequest, 'node' | 'namespace' | 'pod'>

interface Line {
  readonly time: number
  readonly text: string
}

interface Log {
  readonly container: string
  lines: Line[]
  previous: readonly Line[]
  /** How many lines were dropped from the front. */
  dropped: number
  open: boolean
  /** The requests that follow the log; undefined when there was none. */
  waiting: Set<() => void> | undefined
}

const noLines: readonly Line[] = []

// Old lines are dropped, as with log rotation.
const maxLines = 10_000
const maxTexts = 1000

/** Stores the log lines of simulated containers. */
export class LogBook {
  // By pod uid. An array, because most pods have one container, and a map of one entry takes much more memory.
  readonly #logs = new Map<string, Log[]>()
  // The pods of a workload write the same lines.
  readonly #texts = new Map<string, string>()

  /** Starts the log of a new container run; the current log becomes the previous one. */
  begin(uid: string, container: string): void {
    const log = this.#log(uid, container)
    if (log.lines.length > 0 || log.open) log.previous = log.lines
    log.lines = []
    log.dropped = 0
    log.open = true
    wake(log)
  }

  write(uid: string, container: string, text: string, time: number): void {
    const log = this.#log(uid, container)
    const line = { time, text: this.#shared(text) }
    // An array of one: a push into an empty one reserves room for many, and most simulated containers write one line.
    if (log.lines.length === 0) log.lines = [line]
    else log.lines.push(line)
    if (log.lines.length > maxLines) {
      log.lines.shift()
      log.dropped++
    }
    wake(log)
  }

  /** Closes the log: requests that follow it end. */
  end(uid: string, container: string): void {
    const log = this.#logs.get(uid)?.find((one) => one.container === container)
    if (log === undefined) return
    log.open = false
    wake(log)
  }

  /** Drops all logs of a pod. */
  forget(uid: string): void {
    for (const log of this.#logs.get(uid) ?? []) {
      log.open = false
      wake(log)
    }
    this.#logs.delete(uid)
  }

  async *read(query: LogQuery, clock: Clock): AsyncGenerator<string, void, undefined> {
    const log = this.#log(query.uid, query.container)
    const since = earliest(query, clock.now())
    const format = ({ text, time }: Line): string =>
      query.timestamps ? `${new Date(time).toISOString().replace('Z', '000000Z')} ${text}\n` : `${text}\n`
    const kept = (query.previous ? log.previous : log.lines).filter(({ time }) => time >= since)
    let bytes = query.limitBytes ?? Number.POSITIVE_INFINITY
    // A byte limit may cut a line.
    const cut = (line: string): string => {
      const text = line.length > bytes ? line.slice(0, bytes) : line
      bytes -= text.length
      return text
    }
    let next = log.dropped + log.lines.length
    for (const line of query.tailLines === undefined ? kept : kept.slice(Math.max(0, kept.length - query.tailLines))) {
      if (bytes <= 0) return
      yield cut(format(line))
    }
    while (query.follow && !query.previous && bytes > 0) {
      const run = log.lines
      for (const line of run.slice(Math.max(0, next - log.dropped))) yield cut(format(line))
      next = log.dropped + log.lines.length
      if (!log.open || query.signal.aborted) return
      await new Promise<void>((resolve) => {
        const done = (): void => {
          log.waiting?.delete(done)
          query.signal.removeEventListener('abort', done)
          resolve()
        }
        log.waiting ??= new Set()
        log.waiting.add(done)
        query.signal.addEventListener('abort', done)
      })
      if (log.lines !== run) next = 0
    }
  }

  /** An equal text that other lines may have too. */
  #shared(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    if (this.#texts.size >= maxTexts) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }

  #log(uid: string, container: string): Log {
    const logs = this.#logs.get(uid)
    const known = logs?.find((one) => one.container === container)
    if (known !== undefined) return known
    const log: Log = { container, lines: [], previous: noLines, dropped: 0, open: false, waiting: undefined }
    if (logs === undefined) this.#logs.set(uid, [log])
    else logs.push(log)
    return log
  }
}

const wake = ({ waiting }: Log): void => {
  if (waiting !== undefined) for (const done of [...waiting]) done()
}

function earliest({ sinceSeconds, sinceTime }: LogQuery, now: number): number {
  if (sinceTime !== undefined) return fromTime(sinceTime)
  return sinceSeconds === undefined ? Number.NEGATIVE_INFINITY : now - sinceSeconds * 1000
}
