// The program of an instance: a LogStore served over HTTP, with its state in a file.
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Fenced } from './database.ts'
import { sendAppend } from './http-database.ts'
import { LogStore, type StoredState } from './log-store.ts'

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '5433' },
    data: { type: 'string', default: 'log-store' },
  },
})

const file = join(values.data, 'state.json')
const store = new LogStore({
  freshId: randomUUID(),
  state: load(),
  save,
  send: (peer, append) => sendAppend(peer.url, append),
})

/** The request handlers. Bodies come from the operator, from other instances, and from clients that write rows. */
const handlers: Readonly<Record<string, (body: never) => unknown>> = {
  report: () => store.report(),
  promote: (body) => store.promote(body),
  snapshot: ({ epoch }: { readonly epoch: number }) => store.snapshot(epoch),
  restore: (body) => store.restore(body),
  append: (body) => store.append(body),
  write: ({ text }: { readonly text: string }) => store.write(text),
  read: () => ({ rows: store.read() }),
}

const server = createServer((request, response) => {
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  handle(request).then(
    (result) => answer(200, result ?? {}),
    (error: Error) => answer(error instanceof Fenced ? 409 : 500, { message: error.message }),
  )
})

async function handle(request: IncomingMessage): Promise<unknown> {
  const handler = handlers[request.url?.slice(1) ?? '']
  if (request.method !== 'POST' || handler === undefined) throw new Error(`Cannot ${request.method} ${request.url}`)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return handler(JSON.parse(Buffer.concat(chunks).toString()) as never)
}

function load(): StoredState | undefined {
  mkdirSync(values.data, { recursive: true })
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StoredState
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file atomically: after a crash it contains the old state or the new one. */
function save(state: StoredState): void {
  const next = `${file}.next`
  const descriptor = openSync(next, 'w')
  writeSync(descriptor, JSON.stringify(state))
  fsyncSync(descriptor)
  closeSync(descriptor)
  renameSync(next, file)
}

server.listen(Number(values.port), values.host, () => console.log(`listening on ${values.host}:${values.port}`))
process.once('SIGTERM', () => process.exit(0))
