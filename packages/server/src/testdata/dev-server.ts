// A server for the development of this package: in memory or durable, one token of the group system:masters, certificates from a
// folder.
//   --port N   --pki DIR (ca.crt, server.crt, server.key)   --data DIR
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogger } from '@kubewright/base'
import { MemoryStore, openDurableStore } from '@kubewright/storage'
import { assembleServer } from '../assemble-server.ts'
import { listen } from '../http/listener/listener.ts'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, pki: { type: 'string', default: '.' }, data: { type: 'string' } },
})
const read = (name: string): string => readFileSync(join(values.pki, name), 'utf8')
const log = createLogger({
  enabled: (level) => level === 0,
  write: (record) => console.error(record.message, record.values, record.error ?? ''),
})
const store = values.data === undefined ? new MemoryStore() : await openDurableStore(values.data)
const server = await assembleServer({
  store,
  log,
  access: { tokens: [{ token: 'conformance', user: { name: 'admin', groups: ['system:masters'] } }] },
})
const listener = await listen({
  handler: server.handler,
  cert: read('server.crt'),
  key: read('server.key'),
  clientCas: [read('ca.crt')],
  port: Number(values.port),
})
console.log(`ready https://127.0.0.1:${listener.port}`)
const stop = async (): Promise<void> => {
  await listener[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  process.exit(0)
}
process.once('SIGTERM', () => void stop())
process.once('SIGINT', () => void stop())
