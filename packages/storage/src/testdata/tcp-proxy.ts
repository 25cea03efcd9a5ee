// A TCP proxy between a store and its server that can break and stall connections.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  readonly url: string
  /** Breaks all connections. New ones are accepted. */
  cut(): void
  /** Forwards requests and drops responses from now on. */
  swallowAnswers(): void
  /** Forwards responses again. Connections whose responses were dropped stay broken. */
  heal(): void
}

export async function startProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let swallow = false
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => upstream.write(data))
    upstream.on('data', (data) => swallow || client.write(data))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    swallowAnswers: () => {
      swallow = true
    },
    heal: () => {
      swallow = false
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
