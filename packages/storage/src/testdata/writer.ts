// Writes to the store in the given folder until it is killed. Prints each key when its write was acknowledged.
import { writeSync } from 'node:fs'
import { openDurableStore } from '../durable-store.ts'

const store = await openDurableStore(process.argv[2]!, { snapshotBytes: 200_000 })
writeSync(1, 'ready\n')
let next = await store.revision()
const writer = async (): Promise<void> => {
  for (;;) {
    const key = `/load/${next++}`
    const result = await store.put(key, new TextEncoder().encode(`${key} `.repeat(40)), 0)
    if (result.ok) writeSync(1, `${key}\n`)
  }
}
await Promise.all(Array.from({ length: 16 }, writer))
