import type { IncomingMessage } from 'node:http'
import type { RequestSpec } from './case-format.ts'
import { type CountedHeaders, countedHeaders, decodeBody, type HttpClient } from './http-client.ts'

/** An event of a watch as received. */
export interface WatchEvent {
  readonly type: string
  readonly object: unknown
}

/** An open watch and the events received so far. */
export class EventStream implements Disposable {
  readonly status: number
  readonly headers: CountedHeaders
  readonly events: WatchEvent[] = []
  /** The body of a response that is not a stream. */
  error: unknown
  ended = false
  readonly #response: IncomingMessage
  #waiting: (() => void)[] = []

  private constructor(response: IncomingMessage) {
    this.#response = response
    this.status = response.statusCode ?? 0
    this.headers = countedHeaders(response)
  }

  static async open(client: HttpClient, spec: RequestSpec): Promise<EventStream> {
    const stream = new EventStream(await client.open({ ...spec, timeoutMs: 120_000 }))
    const reading = stream.status === 200 ? stream.#readEvents() : stream.#readError()
    reading
      .catch(() => undefined)
      .finally(() => {
        stream.ended = true
        stream.#wake()
      })
    return stream
  }

  [Symbol.dispose](): void {
    this.#response.destroy()
  }

  /** Resolves on the next bytes, at the end, or after the given milliseconds. */
  next(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, millis)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Waits until the condition holds, the stream ends or the time has elapsed. */
  async until(condition: () => boolean, millis: number): Promise<void> {
    const end = Date.now() + millis
    while (!condition() && !this.ended && Date.now() < end) await this.next(end - Date.now())
  }

  async #readEvents(): Promise<void> {
    let rest = ''
    this.#response.setEncoding('utf8')
    for await (const chunk of this.#response) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line.trim() !== '') this.events.push(eventOf(line))
      this.#wake()
    }
  }

  async #readError(): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of this.#response) chunks.push(chunk as Buffer)
    this.error = decodeBody(Buffer.concat(chunks), this.headers['content-type'] ?? '')
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

function eventOf(line: string): WatchEvent {
  try {
    return JSON.parse(line) as WatchEvent
  } catch {
    return { type: '$unparsable', object: line.slice(0, 200) }
  }
}
