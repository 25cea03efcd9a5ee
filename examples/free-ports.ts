import { createServer } from 'node:net'

// Below the ephemeral ports, which the system may assign to any connection at any time.
const lowest = 12_000
const highest = 32_000

/** Finds `count` consecutive ports that are currently free on this machine, and returns the first. */
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
