import type { GroupVersionKind, GroupVersionResource } from '@kubewright/api'
import {
  type AnyKind,
  findCause,
  formatGroupKind,
  gvkOf,
  isControlledBy,
  isKind,
  isNotFound,
  type KubeList,
  type KubeObject,
  type Status,
  type TypeMeta,
  toNameAndNamespace,
} from '@kubewright/api'
import { compareValues, deepEqual } from '@kubewright/base'
import type { ApiClient, ClientOptions, CollectionDeletion, Deletion, EncodedPageOptions } from './api-client.ts'
import type {
  ApplyOptions,
  AttachOptions,
  CallOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  ExecOptions,
  GetOptions,
  Key,
  ListAllOptions,
  ListOptions,
  LogOptions,
  PageOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from './call-options.ts'
import type { Page } from './client.ts'
import { Discovery, type ServedResource } from './discovery/discovery.ts'
import { RestMapper } from './discovery/rest-mapper.ts'
import { type DynamicKind, dynamicKind, isMetadataOnly } from './dynamic-kind.ts'
import { ForwardedPort, portForwardProtocols } from './exec/forwarded-port.ts'
import { RemoteCommand, remoteCommandProtocols } from './exec/remote-command.ts'
import { splitList } from './list-filter.ts'
import { logQuery } from './log-query.ts'
import { checkIndex, matchesIndex } from './object-index.ts'
import { patchBody } from './patch-body.ts'
import { continueFrom, listQuery, pageQuery, watchQuery, writeQuery } from './request-query.ts'
import { objectTypeName, type PathFacts, type PathTarget, resourcePath } from './resource-path.ts'
import { RestClient, type RestRequest } from './rest/rest-client.ts'
import type { SubresourceClient } from './subresource-client.ts'
import { type EncodedPage, EncodedReader, pageOf } from './watch/encoded-reader.ts'
import { readLines } from './watch/read-lines.ts'
import { WatchStream } from './watch/watch-stream.ts'

/** Creates a client on a transport. Disposing the client closes the transport. */
export function createClient(options: ClientOptions): ApiClient {
  return new TransportClient(options)
}

const metadataAccept = (as: string): string => `application/json;as=${as};g=meta.k8s.io;v=v1,application/json`
const applyType = 'application/apply-patch+yaml'
const defaultManager = 'kubewright'

const pods: PathFacts = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' }

type RequestContent = Pick<RestRequest, 'query' | 'accept' | 'body' | 'contentType'>

type ObjectLike = Readonly<TypeMeta> & {
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined
}

class TransportClient implements ApiClient {
  readonly rest: RestClient
  readonly discovery: Discovery
  readonly mapper: RestMapper
  readonly namespace: string
  readonly dryRun: boolean
  readonly #options: ClientOptions
  readonly #known = new Map<string, PathFacts>()

  constructor(options: ClientOptions) {
    this.#options = options
    this.namespace = options.namespace ?? 'default'
    this.dryRun = options.dryRun ?? false
    this.rest = new RestClient(options)
    this.discovery = new Discovery(this.rest)
    this.mapper = new RestMapper(this.discovery)
    for (const kind of options.kinds ?? []) this.#remember(kind)
  }

  // The types of responses cannot be checked at compile time: the server is trusted to return objects of the requested
  // kind. Hence the casts to `never`, which the interface turns into types.

  async get(kind: AnyKind, key: Key, options: GetOptions = {}): Promise<never> {
    const query = new URLSearchParams()
    if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
    const accept = isMetadataOnly(kind) ? metadataAccept('PartialObjectMetadata') : undefined
    const request = this.#request('GET', this.#remember(kind), this.#target(key), options, { query, accept })
    return this.#read(kind, await this.#json(request, kind))
  }

  async find(kind: AnyKind, key: Key, options?: GetOptions): Promise<never> {
    try {
      return await this.get(kind, key, options)
    } catch (error) {
      // An unexpected response means that the server does not serve the path, so the kind is missing, not the object.
      if (isNotFound(error) && !findCause(error, 'UnexpectedServerResponse')) return undefined as never
      throw error
    }
  }

  async list(kind: AnyKind, options: ListAllOptions = {}): Promise<never[]> {
    const { controlledBy: owner, index } = options
    if (index !== undefined) checkIndex(index, kind)
    for await (const { items } of this.pages(kind, { ...options, pageSize: 0 })) {
      const objects = sortedByKey(items as never[])
      const owned = owner === undefined ? objects : objects.filter((object) => isControlledBy(object, owner))
      return index === undefined ? owned : owned.filter((object) => matchesIndex(index, object))
    }
    return []
  }

  async *pages(kind: AnyKind, options: PageOptions = {}): AsyncGenerator<Page<never>, void, undefined> {
    const { pageSize = 500 } = options
    const { serverOptions, filter } = splitList(kind, options)
    const query = pageQuery(serverOptions, pageSize, options.continue)
    const accept = isMetadataOnly(kind) ? metadataAccept('PartialObjectMetadataList') : undefined
    const request = { ...this.#collection('GET', kind, options), query, accept }
    for (;;) {
      const list = (await this.#json(request, kind)) as Partial<KubeList<unknown>>
      const { resourceVersion = '', continue: next = '', remainingItemCount } = list.metadata ?? {}
      const items = (list.items ?? []).map((item) => this.#read(kind, item))
      yield {
        items: filter === undefined ? items : items.filter(filter),
        resourceVersion,
        ...(remainingItemCount === undefined || filter !== undefined ? {} : { remaining: remainingItemCount }),
        ...(next === '' ? {} : { continue: next }),
      }
      if (next === '') return
      continueFrom(query, next)
    }
  }

  async encodedPage(kind: AnyKind, options: EncodedPageOptions = {}): Promise<EncodedPage<never>> {
    const query = pageQuery(options, options.pageSize ?? 500, options.continue)
    const accept = isMetadataOnly(kind) ? metadataAccept('PartialObjectMetadataList') : undefined
    const request = { ...this.#collection('GET', kind, options), query, accept }
    const reader = new EncodedReader<never>({ ...typeOf(kind), read: (object) => this.#read(kind, object) })
    try {
      return await this.rest.read(request, (bytes, json) => {
        const page = reader.readPage(bytes)
        if (page !== undefined) return page
        const list = json() as Partial<KubeList<unknown>>
        const items = (list.items ?? []).map((item) => reader.encode(item))
        return pageOf(items, list.metadata ?? {})
      })
    } catch (error) {
      throw this.#forgetUnserved(error, kind)
    }
  }

  async watch(kind: AnyKind, options: WatchOptions = {}): Promise<WatchStream<never>> {
    const accept = isMetadataOnly(kind) ? metadataAccept('PartialObjectMetadata') : undefined
    const request = { ...this.#collection('GET', kind, options), query: watchQuery(options), accept }
    try {
      const body = await this.rest.stream(request)
      return new WatchStream({ body, read: (object) => this.#read(kind, object), type: typeOf(kind) })
    } catch (error) {
      throw this.#forgetUnserved(error, kind)
    }
  }

  async create(draft: ObjectLike, options: WriteOptions = {}): Promise<never> {
    const facts = await this.#factsOf(draft, options)
    const namespace = draft.metadata?.namespace ?? this.namespace
    const content = { query: this.#writeQuery(options), body: JSON.stringify(draft) }
    const created = await this.#json(this.#request('POST', facts, { namespace }, options, content), facts)
    return this.#warnIgnoredStatus(facts, draft, created)
  }

  async update(object: ObjectLike, options: WriteOptions = {}): Promise<never> {
    const facts = await this.#factsOf(object, options)
    const updated = await this.#write('PUT', facts, this.#targetOf(object), JSON.stringify(object), options)
    return this.#warnIgnoredStatus(facts, object, updated)
  }

  async patch(kind: AnyKind, key: Key, patch: object | string, options: PatchOptions = {}): Promise<never> {
    const { body, contentType } = patchBody(patch, options)
    return this.#read(kind, await this.#write('PATCH', kind, this.#target(key), body, options, contentType))
  }

  async apply(first: ObjectLike | AnyKind, second?: object, third: ApplyOptions = {}): Promise<never> {
    const typed = isKind(first)
    // The first argument distinguishes the two overloads.
    const draft = (typed ? { apiVersion: first.apiVersion, kind: first.kind, ...second } : first) as ObjectLike
    const options = typed ? third : ((second ?? {}) as ApplyOptions)
    const facts = typed ? this.#remember(first) : await this.#factsOf(draft, options)
    return this.#apply(facts, this.#targetOf(draft), draft, options)
  }

  async delete(kind: AnyKind, key: Key, options?: DeleteOptions): Promise<never> {
    return (await this.requestDeletion(kind, key, options)).object as never
  }

  async requestDeletion(kind: AnyKind, key: Key, options: DeleteOptions = {}): Promise<Deletion<never>> {
    const content = { body: this.#deleteBody(options) }
    const request = this.#request('DELETE', this.#remember(kind), this.#target(key), options, content)
    const answer = (await this.#json(request, kind)) as TypeMeta & Partial<Status>
    if (answer.kind !== 'Status') return { object: this.#read(kind, answer) }
    const { uid } = answer.details ?? {}
    return uid === undefined ? {} : { uid }
  }

  async deleteCollection(kind: AnyKind, options?: DeleteCollectionOptions): Promise<void> {
    await this.requestCollectionDeletion(kind, options)
  }

  async requestCollectionDeletion(
    kind: AnyKind,
    options: DeleteCollectionOptions = {},
  ): Promise<CollectionDeletion<never> | undefined> {
    const request = this.#collection('DELETE', kind, options)
    const body = this.#deleteBody(options)
    const answer = (await this.#json({ ...request, query: listQuery(options), body }, kind)) as Partial<
      KubeList<unknown>
    >
    if (answer.items === undefined) return undefined
    const { resourceVersion = '' } = answer.metadata ?? {}
    return { objects: answer.items.map((item) => this.#read(kind, item)), resourceVersion }
  }

  subresource<K extends AnyKind, N extends string>(kind: K, subresource: N): SubresourceClient<K, N> {
    const at = (key: Key): PathTarget => ({ ...this.#target(key), subresource })
    // As above: the server is trusted to return the type that belongs to the kind and subresource.
    const client: SubresourceClient<AnyKind, string> = {
      get: async (key, options = {}) => {
        const query = new URLSearchParams()
        if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
        return (await this.#json({ ...this.#request('GET', kind, at(key), options), query }, kind)) as never
      },
      create: (key, body, options = {}) => this.#write('POST', kind, at(key), JSON.stringify(body), options),
      update: (body, options = {}) => {
        const target = { ...this.#targetOf(body as unknown as ObjectLike), subresource }
        return this.#write('PUT', kind, target, JSON.stringify(body), options)
      },
      patch: (key, patch, options = {}) => {
        const { body, contentType } = patchBody(patch, options)
        return this.#write('PATCH', kind, at(key), body, options, contentType)
      },
      apply: (key, partial, options = {}) => {
        const { name } = toNameAndNamespace(key)
        const draft = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...partial }
        return this.#apply(kind, at(key), draft, options)
      },
    }
    return client as unknown as SubresourceClient<K, N>
  }

  async *logs(pod: Key, options: LogOptions = {}): AsyncGenerator<string, void, undefined> {
    const request = this.#request('GET', pods, { ...this.#target(pod), subresource: 'log' }, options)
    const body = await this.rest.stream({ ...request, query: logQuery(options), accept: 'text/plain, */*' })
    for await (const lines of readLines(body)) yield* lines
  }

  exec(pod: Key, options: ExecOptions): Promise<RemoteCommand> {
    return this.#attachTo('exec', pod, options, options.command)
  }

  attach(pod: Key, options: AttachOptions = {}): Promise<RemoteCommand> {
    return this.#attachTo('attach', pod, options, [])
  }

  async portForward(pod: Key, port: number, options: CallOptions = {}): Promise<ForwardedPort> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new RangeError(`Cannot forward port ${port}: it must be an integer from 1 to 65535`)
    }
    const request = this.#request('GET', pods, { ...this.#target(pod), subresource: 'portforward' }, options)
    const query = new URLSearchParams({ ports: String(port) })
    return new ForwardedPort(await this.rest.upgrade({ ...request, query, accept: '*/*' }, portForwardProtocols))
  }

  async #attachTo(
    subresource: string,
    pod: Key,
    options: AttachOptions,
    command: readonly string[],
  ): Promise<RemoteCommand> {
    const { container, stdin = false, tty = false } = options
    const query = new URLSearchParams({ stdout: 'true' })
    if (stdin) query.set('stdin', 'true')
    // A terminal has a single output.
    query.set(tty ? 'tty' : 'stderr', 'true')
    if (container !== undefined) query.set('container', container)
    for (const word of command) query.append('command', word)
    const request = this.#request('GET', pods, { ...this.#target(pod), subresource }, options)
    return new RemoteCommand(await this.rest.upgrade({ ...request, query, accept: '*/*' }, remoteCommandProtocols))
  }

  async kind(name: GroupVersionKind, options?: CallOptions): Promise<DynamicKind> {
    return asKind(await this.mapper.forKind(name, options))
  }

  async resource(name: GroupVersionResource, options?: CallOptions): Promise<DynamicKind> {
    return asKind(await this.mapper.forResource(name, options))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.transport[Symbol.asyncDispose]()
  }

  #apply(facts: PathFacts, target: PathTarget, draft: object, options: ApplyOptions): Promise<never> {
    const { fieldManager = this.#options.fieldManager ?? defaultManager } = options
    return this.#write('PATCH', facts, target, JSON.stringify(draft), { ...options, fieldManager }, applyType)
  }

  async #write(
    method: string,
    facts: PathFacts,
    target: PathTarget,
    body: string,
    options: ApplyOptions,
    contentType?: string,
  ): Promise<never> {
    const content = { query: this.#writeQuery(options), body, contentType }
    return (await this.#json(this.#request(method, facts, target, options, content), facts)) as never
  }

  #writeQuery(options: ApplyOptions): URLSearchParams {
    return writeQuery(options, this.#options)
  }

  #deleteBody(options: DeleteOptions): string | undefined {
    const { dryRun = this.#options.dryRun, propagationPolicy, gracePeriodSeconds, preconditions } = options
    const body = { propagationPolicy, gracePeriodSeconds, preconditions, dryRun: dryRun ? ['All'] : undefined }
    if (Object.values(body).every((value) => value === undefined)) return undefined
    return JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', ...body })
  }

  #collection(method: string, kind: AnyKind, options: ListOptions & CallOptions): RestRequest {
    const { namespace = this.#options.listNamespace ?? this.namespace } = options
    return this.#request(method, this.#remember(kind), { namespace }, options)
  }

  #request(
    method: string,
    facts: PathFacts,
    target: PathTarget,
    { signal, timeout, beforeSend }: CallOptions,
    { query, accept, body, contentType }: RequestContent = {},
  ): RestRequest {
    const resource = { group: facts.group, resource: facts.plural }
    const path = resourcePath(facts, target)
    const { name } = target
    // One literal: Node 20 takes a microsecond to add a member to a copy of an object.
    return { method, path, resource, name, signal, timeout, beforeSend, query, accept, body, contentType }
  }

  #target(key: Key): PathTarget & { readonly name: string } {
    const { name, namespace = this.namespace } = toNameAndNamespace(key)
    return { name, namespace }
  }

  #targetOf({ metadata = {} }: ObjectLike): PathTarget {
    return { name: metadata.name ?? '', namespace: metadata.namespace ?? this.namespace }
  }

  #remember(kind: AnyKind): PathFacts {
    const name = objectTypeName(kind)
    if (!this.#known.has(name)) this.#known.set(name, kind)
    return kind
  }

  async #factsOf(object: ObjectLike, { signal, timeout }: CallOptions): Promise<PathFacts> {
    return this.#known.get(objectTypeName(object)) ?? (await this.mapper.forKind(gvkOf(object), { signal, timeout }))
  }

  async #json(request: RestRequest, facts: PathFacts): Promise<unknown> {
    try {
      return await this.rest.json(request)
    } catch (error) {
      throw this.#forgetUnserved(error, facts)
    }
  }

  /** Invalidates discovery data of a version when the server does not serve a path of it. Returns the error. */
  #forgetUnserved(error: unknown, facts: PathFacts): unknown {
    if (isNotFound(error) && findCause(error, 'UnexpectedServerResponse')) this.mapper.forget(facts)
    return error
  }

  /** Warns when the server silently ignored the status of a plain write, as it does for kinds with a status subresource. */
  #warnIgnoredStatus(
    facts: PathFacts & { readonly subresources?: readonly string[] | undefined },
    sent: object,
    answer: unknown,
  ): never {
    const { status } = sent as { readonly status?: unknown }
    const ignored =
      typeof status === 'object' &&
      status !== null &&
      Object.keys(status).length > 0 &&
      facts.subresources?.includes('status') &&
      !deepEqual(status, (answer as { readonly status?: unknown }).status)
    if (ignored) {
      const kind = formatGroupKind(facts)
      this.rest.warn(
        `the status of ${kind} was ignored by this write: use subresource(${facts.kind}, 'status') to write it`,
      )
    }
    return answer as never
  }

  /** Adds apiVersion and kind to objects that lack them (list items) or have those of PartialObjectMetadata. */
  #read(kind: AnyKind, json: unknown): never {
    const object = json as { -readonly [F in keyof KubeObject]?: KubeObject[F] }
    const { apiVersion, kind: name } = kind
    if (isMetadataOnly(kind)) return { apiVersion, kind: name, metadata: object.metadata } as never
    if (object.kind === undefined) return { apiVersion, kind: name, ...object } as never
    return object as never
  }
}

/**
 * The type of the objects of a kind. `isFixed`: objects that are read as metadata only declare another type, which is
 * ignored.
 */
function typeOf(kind: AnyKind): { readonly apiVersion: string; readonly kind: string; readonly isFixed: boolean } {
  return { apiVersion: kind.apiVersion, kind: kind.kind, isFixed: isMetadataOnly(kind) }
}

function asKind(served: ServedResource): DynamicKind {
  const { verbs: _, ...facts } = served
  return dynamicKind(facts)
}

/**
 * Sorts by namespace, then name. Servers sort by the text `namespace/name`, which differs when one namespace is a
 * prefix of another.
 */
function sortedByKey<T extends KubeObject>(items: T[]): T[] {
  const compare = (a: T, b: T): number =>
    compareValues(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compareValues(a.metadata.name, b.metadata.name)
  const sorted = items.every((item, index) => {
    const before = items[index - 1]
    return before === undefined || compare(before, item) <= 0
  })
  return sorted ? items : items.sort(compare)
}
