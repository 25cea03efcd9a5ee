// The objects of a server as a store: a key is a namespace and a name, a value is an annotation, a revision is a resource version.
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import {
  type Change,
  CompactedError,
  type Entry,
  FutureRevisionError,
  type ListRequest,
  type Page,
  StorageError,
  type Store,
  type WatchBatch,
  type WatchRequest,
  type WriteResult,
} from '@kubewright/storage'
import { type Reply, Requests } from '../../up/requests.ts'

interface StoredObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly code?: number
}

/** Quotas, because no part of the server creates any, and a PUT does not create one. */
const resource = 'resourcequotas'
const untold = Number.NaN

/** A client of one server. What the API does not tell is NaN. */
export class ApiStore implements Store {
  readonly #requests: Requests
  readonly #place: string
  readonly #tokens: Map<string, string>

  /**
   * The place separates the objects of a run from others: it is a part of their namespaces. The clients of
   * all servers share the tokens of next pages, by revision and key: any server continues the list of another one.
   */
  constructor(kubeconfig: string, place: string, tokens: Map<string, string>) {
    this.#requests = new Requests(kubeconfig)
    this.#tokens = tokens
    this.#place = place
  }

  /** Deletes the objects of earlier runs, and creates the namespaces of the keys. */
  async prepare(parts: readonly string[]): Promise<void> {
    const { body } = await this.#read(`/api/v1/${resource}`, undefined)
    for (const { metadata } of body.items as StoredObject[])
      await this.#send('DELETE', `/api/v1/namespaces/${metadata.namespace}/${resource}/${metadata.name}`, {})
    for (const part of parts) {
      const name = this.#namespace(part)
      const { status, text } = await this.#requests.send('POST', '/api/v1/namespaces', { metadata: { name } })
      if (status !== 201 && status !== 409) throw new Error(`namespace ${name}: ${status} ${text}`)
    }
  }

  async revision(): Promise<number> {
    return (await this.list({ prefix: '/', limit: 1 })).revision
  }

  async get(
    key: string,
    options?: { readonly revision?: number },
  ): Promise<{ entry: Entry | undefined; revision: number }> {
    if (options?.revision !== undefined) {
      const { collection, name } = this.#pathOf(key)
      const query = `fieldSelector=metadata.name%3D${name}&resourceVersion=${options.revision}&resourceVersionMatch=Exact`
      const { body } = await this.#read(`${collection}?${query}`, options.revision)
      return { entry: this.#entries(body.items)[0], revision: options.revision }
    }
    const reply = await this.#send('GET', this.#pathOf(key).object, undefined, 'KW_STORAGE_UNAVAILABLE')
    if (reply.status === 404) return { entry: undefined, revision: untold }
    return { entry: this.#entries([reply.body])[0], revision: untold }
  }

  async list({ prefix, after, limit, revision }: ListRequest): Promise<Page> {
    const query = new URLSearchParams()
    if (limit !== undefined) query.set('limit', String(limit))
    if (after !== undefined) query.set('continue', this.#tokens.get(`${revision} ${after}`)!)
    else if (revision !== undefined) {
      query.set('resourceVersion', String(revision))
      query.set('resourceVersionMatch', 'Exact')
    }
    const { body } = await this.#read(`${this.#collectionOf(prefix)}?${query}`, revision)
    const entries = this.#entries(body.items)
    const { resourceVersion, continue: token, remainingItemCount = 0 } = body.metadata
    const at = Number(resourceVersion)
    const last = (body.items as StoredObject[]).at(-1)
    const next = token && last ? this.#keyOf(last) : undefined
    if (next !== undefined) this.#tokens.set(`${at} ${next}`, token)
    return { entries, revision: at, next, remaining: remainingItemCount }
  }

  async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    const { collection, object, name } = this.#pathOf(key)
    const metadata = { name, annotations: { value: Buffer.from(value).toString('latin1') } }
    const body = {
      metadata: expected === 0 ? metadata : { ...metadata, resourceVersion: String(expected) },
      spec: {},
    }
    const reply = expected === 0 ? await this.#send('POST', collection, body) : await this.#send('PUT', object, body)
    return this.#result(reply, Number(reply.body?.metadata?.resourceVersion))
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    const body = { preconditions: { resourceVersion: String(expected) } }
    return this.#result(await this.#send('DELETE', this.#pathOf(key).object, body), untold)
  }

  async *watch({ prefix, after = 0, signal }: WatchRequest): AsyncGenerator<WatchBatch> {
    const path = `${this.#collectionOf(prefix)}?watch=1&allowWatchBookmarks=true&resourceVersion=${after}`
    const { hostname, port } = this.#requests.server
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = https.get(
        { hostname, port, path, agent: this.#requests.agent, ...(signal ? { signal } : {}) },
        resolve,
      )
      request.on('error', (error) => reject(unavailable(error)))
    })
    try {
      if (response.statusCode !== 200) throw failure(response.statusCode ?? 0, after)
      let rest = ''
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = (rest + String(chunk)).split('\n')
        rest = lines.pop()!
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: StoredObject }
          if (type === 'ERROR') throw failure(object.code ?? 0, after)
          const revision = Number(object.metadata.resourceVersion)
          yield { changes: type === 'BOOKMARK' ? [] : this.#changes(type, object, revision), revision }
        }
      }
      throw unavailable('the watch ended')
    } catch (error) {
      if (signal?.aborted) return
      throw error instanceof StorageError ? error : unavailable(error)
    } finally {
      response.destroy()
    }
  }

  async compact(): Promise<void> {
    throw new Error('The API has no compaction')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#requests[Symbol.dispose]()
  }

  #changes(type: string, object: StoredObject, revision: number): Change[] {
    const [entry] = this.#entries([object])
    if (!entry) return []
    const isDelete = type === 'DELETED'
    return [
      {
        type: isDelete ? 'delete' : 'put',
        key: entry.key,
        revision,
        entry: isDelete ? undefined : entry,
        previous: undefined,
      },
    ]
  }

  #result(reply: Reply, revision: number): WriteResult {
    if (reply.status < 300) return { ok: true, revision, entry: undefined, previous: undefined }
    if (reply.status === 409 || reply.status === 404) return { ok: false, revision: untold, current: undefined }
    throw new Error(`status ${reply.status}: ${reply.text}`)
  }

  async #read(path: string, revision: number | undefined): Promise<Reply> {
    const reply = await this.#send('GET', path, undefined, 'KW_STORAGE_UNAVAILABLE', revision)
    if (reply.status !== 200) throw failure(reply.status, revision ?? 0)
    return reply
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    code: 'KW_STORAGE_UNAVAILABLE' | 'KW_STORAGE_UNCERTAIN' = 'KW_STORAGE_UNCERTAIN',
    revision?: number,
  ): Promise<Reply> {
    // Node sends the body of a DELETE without its length.
    const headers = method === 'DELETE' ? { 'content-length': String(JSON.stringify(body).length) } : {}
    const reply = await this.#requests.send(method, path, body, headers).catch((error: unknown) => {
      throw new StorageError(code, String(error))
    })
    if (reply.status === 504 && reply.text.includes('Too large resource version')) throw failure(504, revision ?? 0)
    if (reply.status >= 500 || reply.status === 429) throw new StorageError(code, reply.text)
    return reply
  }

  /** The entries of this run. Lists of all namespaces have those of other runs, too. */
  #entries(items: readonly StoredObject[]): Entry[] {
    return items.flatMap((item) => {
      const { namespace, resourceVersion, annotations } = item.metadata
      if (!namespace.startsWith(this.#namespace(''))) return []
      const value = Buffer.from(annotations?.['value'] ?? '', 'latin1')
      return [{ key: this.#keyOf(item), value, modRevision: Number(resourceVersion), createRevision: untold }]
    })
  }

  #keyOf({ metadata: { name, namespace } }: StoredObject): string {
    return `/${namespace.slice(this.#namespace('').length)}/${name.slice(1)}`
  }

  #namespace(part: string): string {
    return `${this.#place}-${part}`
  }

  #collectionOf(prefix: string): string {
    const [, part = ''] = prefix.split('/')
    return part === '' ? `/api/v1/${resource}` : `/api/v1/namespaces/${this.#namespace(part)}/${resource}`
  }

  #pathOf(key: string): { readonly collection: string; readonly object: string; readonly name: string } {
    const [, part = '', name = ''] = key.split('/')
    const collection = this.#collectionOf(`/${part}/`)
    return { collection, object: `${collection}/n${name}`, name: `n${name}` }
  }
}

function failure(status: number, revision: number): Error {
  if (status === 410) return new CompactedError(revision, untold)
  return status === 504 ? new FutureRevisionError(revision, untold) : unavailable(`status ${status}`)
}

const unavailable = (error: unknown): StorageError => new StorageError('KW_STORAGE_UNAVAILABLE', String(error))
