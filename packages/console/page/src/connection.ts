import type { Hello, PageRequest, PageResponse, StreamMessage, Topic, Update } from '../../src/wire/messages.ts'

/** Whether the stream to the server is open. */
export type LinkState = 'connecting' | 'open' | 'lost'

type Listener = (update: Update) => void

/**
 * The page's connection to its server: one stream of server-sent events for everything that it follows, and requests for
 * the rest. A lost stream is opened again, and all topics are followed again; their first message replaces the state.
 */
export class Connection {
  readonly #followed = new Map<number, { readonly topic: Topic; readonly listener: Listener }>()
  readonly #listeners = new Set<() => void>()
  #lastId = 0
  #hello: Hello | undefined
  #state: LinkState = 'connecting'

  get hello(): Hello | undefined {
    return this.#hello
  }

  get state(): LinkState {
    return this.#state
  }

  open(): void {
    const source = new EventSource('stream')
    source.onmessage = ({ data }: MessageEvent<string>) => this.#receive(JSON.parse(data) as StreamMessage)
    // The browser reconnects by itself, unless the server refused the stream.
    source.onerror = () => {
      this.#change('lost')
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.open(), 2000)
    }
  }

  /** Follows a topic until the returned function is called. */
  follow(topic: Topic, listener: Listener): () => void {
    const id = ++this.#lastId
    this.#followed.set(id, { topic, listener })
    this.#send(id, topic)
    return () => {
      this.#followed.delete(id)
      if (this.#hello) void this.request({ type: 'unfollow', stream: this.#hello.stream, id })
    }
  }

  /** Never rejects: a failure is the error of the response. */
  async request(request: PageRequest): Promise<PageResponse> {
    try {
      const response = await fetch('request', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      if (response.ok) return (await response.json()) as PageResponse
      return { error: (await response.text()).trim() }
    } catch (error) {
      return { error: String(error) }
    }
  }

  /** Calls the listener when the state of the link changes. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #receive(message: StreamMessage): void {
    if (message.type !== 'hello') {
      this.#followed.get(message.topic)?.listener(message)
      return
    }
    this.#hello = message
    this.#change('open')
    for (const [id, { topic }] of this.#followed) this.#send(id, topic)
  }

  #send(id: number, topic: Topic): void {
    if (this.#hello && this.#state === 'open')
      void this.request({ type: 'follow', stream: this.#hello.stream, id, topic })
  }

  #change(state: LinkState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

/** The only connection of the page. */
export const connection = new Connection()
