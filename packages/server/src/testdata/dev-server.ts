// A server for development of this package: in memory, one token of group system:masters, certificates from a folder.
//   --port N   --pki DIR (ca.crt, server.crt, server.key)   --data DIR
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogger } from '@kubewright/base'
import { MemoryStore, openDurableStore } from '@kubewright/storage'
import { createApiServer } from '../api-server.ts'
import { createAccessControl } from '../auth/access-control.ts'
import { installBuiltins } from '../bootstrap/install-builtins.ts'
import { builtinResources } from '../builtins/builtin-resources.ts'
import { builtinTable } from '../builtins/builtin-table.ts'
import { mergeBuiltinTables } from '../builtins/merge-builtin-tables.ts'
import { listen } from '../http/listener.ts'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, pki: { type: 'string', default: '.' }, data: { type: 'string' } },
})
const read = (name: string): string => readFileSync(join(values.pki, name), 'utf8')
const log = createLogger({
  enabled: (level) => level === 0,
  write: (record) => console.error(record.message, record.values, record.error ?? ''),
})
const store = values.data === undefined ? new MemoryStore() : await openDurableStore(values.data)
const access = createAccessControl({
  tokens: [{ token: 'conformance', user: { name: 'admin', groups: ['system:masters'] } }],
})
const server = await createApiServer({
  store,
  log,
  authenticators: access.authenticators,
  authorizer: access.authorizer,
  setup: async (parts) => {
    const table = mergeBuiltinTables(builtinTable, await access.attach(parts))
    for (const resource of builtinResources(table)) parts.resources.set(resource)
    await installBuiltins(parts)
    await access.bootstrap(parts)
  },
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
