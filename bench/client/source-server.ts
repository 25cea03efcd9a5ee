// A process that serves prepared lists and watches over HTTP: an API server of negligible cost. Arguments: objects,
// events. `POST /go` makes the open watches send their events as fast as clients read them.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StoredSites, sitesPath } from './stored-sites.ts'

const [objects = 0, events = 0] = process.argv.slice(2).map(Number)
const sites = new StoredSites(objects)
const blockSize = 250
const initial: Buffer[] = []
for (let at = 0; at < objects; at += blockSize) {
  initial.push(sites.lines('ADDED', at, Math.min(blockSize, objects - at), at))
}
const updates: Buffer[] = []
for (let at = 0; at < events; at += blockSize) {
  updates.push(sites.lines('MODIFIED', at, Math.min(blockSize, events - at), objects + 1 + at))
}
const pages = new Map<string, Buffer>()
const watches = new Set<ServerResponse>()

function page(start: number, limit: number): Buffer {
  const name = `${start} ${limit}`
  let bytes = pages.get(name)
  if (bytes === undefined) {
    bytes = sites.page(start, limit)
    pages.set(name, bytes)
  }
  return bytes
}

async function sendAll(response: ServerResponse, blocks: readonly Buffer[]): Promise<void> {
  for (const block of blocks) if (!response.write(block)) await once(response, 'drain')
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://source')
  if (request.method === 'POST') {
    for (const watch of watches) void sendAll(watch, updates)
    response.end()
    return
  }
  if (url.pathname !== sitesPath) {
    response.writeHead(404).end()
    return
  }
  response.setHeader('content-type', 'application/json')
  if (url.searchParams.get('watch') === null) {
    const limit = Number(url.searchParams.get('limit') ?? 0) || objects
    const bytes = page(Number(url.searchParams.get('continue') ?? 0), limit)
    response.setHeader('content-length', bytes.length)
    response.end(bytes)
    return
  }
  response.writeHead(200)
  response.flushHeaders()
  const begin = async (): Promise<void> => {
    if (url.searchParams.get('sendInitialEvents') === 'true') {
      await sendAll(response, initial)
      response.write(sites.initialEnd())
    }
    watches.add(response)
    response.once('close', () => watches.delete(response))
  }
  void begin()
})
// Lists are prepared before the first request.
page(0, objects)
for (let start = 0; start < objects; start += 500) page(start, 500)
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(JSON.stringify({ port, meanBytes: sites.meanBytes }))
})
