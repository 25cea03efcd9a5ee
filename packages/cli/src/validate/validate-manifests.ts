import { decodeYaml, encodeJson, parseGroupVersion, strictDecodingMessage } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { NoMatchError, type ServedResource } from '@kubewright/client'
import { isCrd, objectsIn } from '../input/crds-in.ts'
import type { ManifestDocument } from '../input/read-manifests.ts'
import { type Answer, type OfflineServer, startOfflineServer } from '../offline/offline-server.ts'
import { isRecord } from '../text/is-record.ts'
import { type FilledField, filledFields } from './filled-fields.ts'

/** One thing that is wrong with an object. */
export interface ManifestProblem {
  /** The path of the field, where it is about one. */
  readonly field?: string
  readonly message: string
}

/** What an API server would say to an object. */
export interface ManifestVerdict {
  readonly file: string
  readonly line: number
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly valid: boolean
  /** Whether it was taken as an update of what was there before. */
  readonly updated: boolean
  /** What the server says, as a client gets it. */
  readonly message?: string
  readonly problems: readonly ManifestProblem[]
  readonly warnings: readonly string[]
  /** What the server filled in. */
  readonly filled: readonly FilledField[]
}

/** What {@link validateManifests} takes besides the manifests. */
export interface ValidateManifestsOptions {
  readonly clock: Clock
  /** What is there before: definitions, namespaces with labels, policies. */
  readonly present?: readonly ManifestDocument[]
  /** The states that the manifests are an update of. */
  readonly old?: readonly ManifestDocument[]
  /** The definitions that held when the old states were written. @default those of now */
  readonly oldPresent?: readonly ManifestDocument[]
  /** What becomes of unknown and repeated fields. @default 'Strict' */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
  /** The namespace of objects that name none. @default 'default' */
  readonly namespace?: string
}

/**
 * Asks an API server in this process what it makes of manifests, one after the other as `kubectl apply` would send them. Definitions
 * go first; namespaces and service accounts are made as they are named. The server is the one that serves clusters, so defaults,
 * rules and texts are the same.
 */
export async function validateManifests(
  documents: readonly ManifestDocument[],
  options: ValidateManifestsOptions,
): Promise<ManifestVerdict[]> {
  const server = await startOfflineServer(options.clock)
  try {
    const session = new Session(server, options)
    const present = [...(options.present ?? []), ...documents.filter(({ value }) => isCrd(value))]
    const judged = new Set(documents)
    await session.prepare(options.oldPresent ?? present, judged)
    await session.prepare(options.old ?? [], judged)
    if (options.oldPresent !== undefined) {
      await session.prepare(present, judged)
      await server.settled()
    }
    return await session.judge(documents)
  } finally {
    await server[Symbol.asyncDispose]()
  }
}

interface Item {
  readonly document: ManifestDocument
  readonly object: Readonly<Record<string, unknown>>
  /** As it was written, where the object is all of the document. */
  readonly text?: string
}

class Session {
  readonly #server: OfflineServer
  readonly #options: ValidateManifestsOptions
  readonly #made = new Set<string>()
  /** What was there before the manifests, as paths. */
  readonly #before = new Set<string>()

  constructor(server: OfflineServer, options: ValidateManifestsOptions) {
    this.#server = server
    this.#options = options
  }

  /** Stores what the manifests rely on. Throws for what the server refuses, unless it is to be judged itself. */
  async prepare(documents: readonly ManifestDocument[], judged: ReadonlySet<ManifestDocument>): Promise<void> {
    const items = itemsOf(documents)
    for (const definitionsFirst of [true, false]) {
      for (const item of items.filter(({ object }) => isCrd(object) === definitionsFirst)) {
        const answer = await this.#write(item, 'Ignore')
        if (!judged.has(item.document)) {
          const { file, line } = item.document
          if (!answer.ok) throw new Error(`${file}:${line} cannot be taken as given: ${answer.message}`)
          this.#before.add(keyOf(item.object, answer.target))
        }
      }
    }
  }

  async judge(documents: readonly ManifestDocument[]): Promise<ManifestVerdict[]> {
    const verdicts: ManifestVerdict[] = []
    for (const document of documents) {
      if (document.problem !== undefined) verdicts.push(unreadable(document, document.problem))
      else if (!isRecord(document.value)) verdicts.push(unreadable(document, 'the document is no object'))
      else for (const item of itemsOf([document])) verdicts.push(await this.#judgeOne(item))
    }
    return verdicts
  }

  async #judgeOne(item: Item): Promise<ManifestVerdict> {
    const { document, object } = item
    const answer = await this.#write(item, this.#options.fieldValidation ?? 'Strict')
    // A server looks no further than unknown fields; whoever corrects a file wants to hear the rest as well.
    const isStrict = !answer.ok && answer.message.includes('strict decoding error')
    const further = isStrict ? await this.#write(item, 'Ignore') : answer
    const { namespace, name } = answer.target
    return {
      file: document.file,
      line: document.line,
      apiVersion: String(object['apiVersion'] ?? ''),
      kind: String(object['kind'] ?? ''),
      ...(namespace === undefined ? {} : { namespace }),
      name,
      valid: answer.ok,
      updated: this.#before.has(keyOf(object, answer.target)),
      ...(answer.ok ? {} : { message: answer.message }),
      problems: [...(answer.ok ? [] : problemsOf(answer)), ...(isStrict && !further.ok ? problemsOf(further) : [])],
      warnings: answer.warnings,
      filled: answer.ok ? filledFields(object, answer.object) : [],
    }
  }

  /** Creates an object, or updates it if it is there already. */
  async #write(item: Item, fieldValidation: string): Promise<Answer & { target: Target }> {
    const { object } = item
    const { apiVersion, kind } = object
    const target = targetOf(object)
    const refuse = (message: string): Answer & { target: Target } => ({
      ok: false,
      message,
      reason: '',
      causes: [],
      warnings: [],
      target,
    })
    if (typeof apiVersion !== 'string' || apiVersion === '') return refuse('apiVersion not set')
    if (typeof kind !== 'string' || kind === '') return refuse('kind not set')
    const resource = await this.#resourceOf(apiVersion, kind)
    if (typeof resource === 'string') return refuse(resource)
    const namespaced = resource.scope === 'Namespaced'
    const namespace = namespaced ? (target.namespace ?? this.#options.namespace ?? 'default') : undefined
    const full: Target = { name: target.name, ...(namespace === undefined ? {} : { namespace }) }
    if (namespace !== undefined) await this.#makeNamespace(namespace)
    if (kind === 'Pod' && apiVersion === 'v1') await this.#makeServiceAccount(object, namespace ?? 'default')
    const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
    const path = `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource.plural}`
    const query = new URLSearchParams({ fieldValidation })
    // Looked for first, since a server checks new objects before it looks whether they are there.
    const own = `${path}/${encodeURIComponent(target.name)}`
    const current = target.name === '' ? undefined : await this.#server.send({ method: 'GET', path: own })
    const answer = current?.ok
      ? await this.#update(item, own, query, current.object)
      : await this.#create(item, path, query)
    if (answer.ok && isCrd(object)) {
      const problem = await this.#server.served(object.metadata.name)
      if (problem !== undefined) return { ...refuse(problem), warnings: answer.warnings }
    }
    return { ...answer, target: full }
  }

  #create({ object, text }: Item, path: string, query: URLSearchParams): Promise<Answer> {
    return this.#server.send({
      method: 'POST',
      path,
      query,
      body: text ?? encodeJson(object),
      contentType: text === undefined || isJson(text) ? 'application/json' : 'application/yaml',
    })
  }

  async #update(
    item: Item,
    path: string,
    query: URLSearchParams,
    current: Readonly<Record<string, unknown>>,
  ): Promise<Answer> {
    const before = current['metadata']
    const { metadata } = item.object
    const object = {
      ...item.object,
      metadata: {
        ...(isRecord(metadata) ? metadata : {}),
        resourceVersion: isRecord(before) ? before['resourceVersion'] : undefined,
      },
    }
    // What goes out is no longer the text that was written, so repeated keys are looked for here.
    const repeated = item.text === undefined ? [] : decodeYaml(item.text, { strict: true }).strictErrors
    if (repeated.length > 0 && query.get('fieldValidation') === 'Strict') {
      return { ok: false, message: strictDecodingMessage(repeated), reason: 'BadRequest', causes: [], warnings: [] }
    }
    return this.#server.send({ method: 'PUT', path, query, body: encodeJson(object) })
  }

  async #resourceOf(apiVersion: string, kind: string): Promise<ServedResource | string> {
    const { group, version } = parseGroupVersion(apiVersion)
    try {
      return await this.#server.client.mapper.forKind({ group, version, kind })
    } catch (error) {
      if (!(error instanceof NoMatchError)) throw error
      const cure = group.includes('.') ? ': give its definition with --crd' : ''
      return `${error.message}${cure}`
    }
  }

  async #makeNamespace(name: string): Promise<void> {
    if (this.#made.has(name)) return
    this.#made.add(name)
    // Whether the name is a good one is told by the object that is put there.
    await this.#server.send(creation('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
    await this.#makeAccount(name, 'default')
  }

  async #makeServiceAccount(pod: Readonly<Record<string, unknown>>, namespace: string): Promise<void> {
    const { spec } = pod
    const name = isRecord(spec) ? spec['serviceAccountName'] : undefined
    if (typeof name === 'string' && name !== '') await this.#makeAccount(namespace, name)
  }

  async #makeAccount(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`
    await this.#server.send(creation(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }))
  }
}

interface Target {
  readonly namespace?: string
  readonly name: string
}

function targetOf({ metadata }: Readonly<Record<string, unknown>>): Target {
  const { name, generateName, namespace } = isRecord(metadata) ? metadata : {}
  const shown = typeof name === 'string' ? name : typeof generateName === 'string' ? `${generateName}*` : ''
  return { name: shown, ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}) }
}

// YAML may start with a brace as well.
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The same for all versions of a kind. */
function keyOf({ apiVersion, kind }: Readonly<Record<string, unknown>>, { namespace, name }: Target): string {
  return `${parseGroupVersion(String(apiVersion)).group}/${String(kind)}/${namespace ?? ''}/${name}`
}

const creation = (path: string, object: object): { method: string; path: string; body: string } => ({
  method: 'POST',
  path,
  body: encodeJson(object),
})

function itemsOf(documents: readonly ManifestDocument[]): Item[] {
  return documents.flatMap((document) => {
    const objects = objectsIn(document.value)
    return objects.map((object): Item => {
      const isWhole = objects.length === 1 && object === document.value
      return { document, object, ...(isWhole ? { text: document.text } : {}) }
    })
  })
}

function unreadable({ file, line }: ManifestDocument, message: string): ManifestVerdict {
  return {
    file,
    line,
    apiVersion: '',
    kind: '',
    name: '',
    valid: false,
    updated: false,
    message,
    problems: [{ message }],
    warnings: [],
    filled: [],
  }
}

function problemsOf({ message, causes }: Extract<Answer, { ok: false }>): ManifestProblem[] {
  const fields = causes.filter((cause) => cause.field !== undefined && cause.message !== undefined)
  if (fields.length === 0) return [{ message }]
  return fields.map((cause) => ({ field: cause.field!, message: cause.message! }))
}
