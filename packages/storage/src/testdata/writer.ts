// Writes to the store in the given folder until it is killed. Prints each key when its write was acknowledged.
import { openDurableStore } from '../durable/durable-store.ts'

const store = await openDurableStore(process.argv[2]!, { snapshotBytes: 200_000 })
// Not with writeSync(), which fails with EAGAIN while the reader of the pipe is busy.
const print = (line: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()))
await print('ready')
let next = await store.revision()
const writer = async (): Promise<void> => {
  for (;;) {
    const key = `/load/${next++}`
    const result = await store.put(key, new TextEncoder().encode(`${key} `.repeat(40)), 0)
    if (result.ok) await print(key)
  }
}
await Promise.all(Array.from({ length: 16 }, writer))
