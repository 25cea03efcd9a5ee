import type { Duplex } from 'node:stream'
import { CaughtError } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { ForwardView } from '../wire/messages.ts'
import type { ObjectName } from '../wire/names.ts'
import { problemText } from './problem-text.ts'
import type { PortListener } from './system-port-listener.ts'

const maxForwards = 32

interface Forward extends ForwardView {
  readonly listening: Disposable
}

/** Ports of this machine that lead to ports of pods, with the rights of the console's client. */
export class Forwards implements Disposable {
  readonly #client: Pick<ApiClient, 'portForward'>
  readonly #listener: PortListener
  readonly #listeners = new Set<() => void>()
  #forwards: readonly Forward[] = []
  #lastId = 0

  constructor(client: Pick<ApiClient, 'portForward'>, listener: PortListener) {
    this.#client = client
    this.#listener = listener
  }

  get all(): readonly ForwardView[] {
    return this.#forwards.map(({ listening: _, ...view }) => view)
  }

  /** Opens a port of 127.0.0.1; `localPort` 0 picks a free one. Rejects if it is in use. */
  async start({ namespace = '', name }: ObjectName, port: number, localPort: number): Promise<void> {
    if (this.#forwards.length >= maxForwards)
      throw new CaughtError(`${maxForwards} ports are forwarded: stop one of them first`)
    const id = ++this.#lastId
    const listening = await this.#listener.listen(localPort, (connection) => {
      this.#join(connection, { namespace, name }, port).catch((error: unknown) => {
        connection.destroy()
        this.#set(this.#forwards.map((one) => (one.id === id ? { ...one, problem: problemText(error) } : one)))
      })
    })
    this.#set([...this.#forwards, { id, namespace, pod: name, port, localPort: listening.port, listening }])
  }

  stop(id: number): void {
    this.#forwards.find((one) => one.id === id)?.listening[Symbol.dispose]()
    this.#set(this.#forwards.filter((one) => one.id !== id))
  }

  /** Calls the listener after each change of {@link all}. */
  listen(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  [Symbol.dispose](): void {
    for (const { listening } of this.#forwards) listening[Symbol.dispose]()
    this.#forwards = []
  }

  /** Copies bytes in both directions until one side closes. */
  async #join(connection: Duplex, pod: { namespace: string; name: string }, port: number): Promise<void> {
    connection.on('error', () => undefined)
    const remote = await this.#client.portForward(pod, port)
    connection.once('close', () => remote.close())
    if (connection.destroyed) {
      remote.close()
      return
    }
    const send = async (): Promise<void> => {
      for await (const chunk of connection) await remote.write(chunk as Buffer)
    }
    // A failure to send is also one of the connection, which `closed` reports.
    void send().catch(() => undefined)
    for await (const chunk of remote.received) {
      if (!connection.write(chunk))
        await new Promise((resolve) => connection.once('drain', resolve).once('close', resolve))
    }
    await remote.closed
    connection.end()
  }

  #set(forwards: readonly Forward[]): void {
    this.#forwards = forwards
    for (const listener of [...this.#listeners]) listener()
  }
}
