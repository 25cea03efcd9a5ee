import { createServer } from 'node:net'

// Below the ephemeral ports: the system assigns those to any connection and to servers of other tests, also while a server that keeps its
// port over a restart is down.
const lowest = 12_000
const highest = 32_000

/** Finds a port that is currently free on the loopback interface and that the system does not assign on its own. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    if (await isFree(port)) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
