import { createServer } from 'node:net'

/** The first of so many ports in a row that nobody uses on this machine at the moment. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = (await tryPort(0)) ?? 65_535
    if (first + count > 65_535) continue
    const others = Array.from({ length: count - 1 }, (_, index) => tryPort(first + index + 1))
    if (!(await Promise.all(others)).includes(undefined)) return first
  }
}

const tryPort = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
