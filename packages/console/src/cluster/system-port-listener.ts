import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Accepts connections on a port of this machine. */
export interface PortListener {
  /** Listens on 127.0.0.1; port 0 picks a free one. Disposing closes the port and its connections. */
  listen(port: number, onConnection: (connection: Duplex) => void): Promise<{ readonly port: number } & Disposable>
}

/** Opens sockets. */
export const systemPortListener: PortListener = {
  listen: (wanted, onConnection) =>
    new Promise((resolve, reject) => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        onConnection(socket)
      })
      server.once('error', reject)
      server.listen(wanted, '127.0.0.1', () => {
        const address = server.address()
        const port = typeof address === 'object' && address !== null ? address.port : wanted
        const close = (): void => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resolve({ port, [Symbol.dispose]: close })
      })
    }),
}
