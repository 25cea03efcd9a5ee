import { createServer } from 'node:net'

// Below the ports that systems give to connections: one of those may be taken by anybody at any moment.
const lowest = 12_000
const highest = 32_000

/** The first of so many ports in a row that nobody uses on this machine at the moment. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = lowest + Math.floor(Math.random() * (highest - lowest - count))
    const all = Array.from({ length: count }, (_, index) => isFree(first + index))
    if (!(await Promise.all(all)).includes(false)) return first
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
