import { decodeYaml, encodeJson, parseGroupVersion, strictDecodingMessage } from '@kubewright/api'
import { type Clock, isJsonObject, KubewrightError } from '@kubewright/base'
import { NoMatchError, type ServedResource } from '@kubewright/client'
import { isCrd, objectsIn } from '../input/crds-in.ts'
import type { ManifestDocument } from '../input/read-manifests.ts'
import { type OfflineServer, type ServerResponse, startOfflineServer } from '../offline/offline-server.ts'
import { type FilledField, filledFields } from './filled-fields.ts'

/** One problem of an object. */
export interface ManifestProblem {
  /** The path of the field, if the problem concerns one. */
  readonly field?: string | undefined
  readonly message: string
}

/** The verdict of an API server on an object. */
export interface ManifestVerdict {
  readonly file: string
  readonly line: number
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly valid: boolean
  /** Whether the request was an update of an existing object. */
  readonly updated: boolean
  /** The message of the server. */
  readonly message?: string | undefined
  readonly problems: readonly ManifestProblem[]
  readonly warnings: readonly string[]
  /** The fields that the server set. */
  readonly filled: readonly FilledField[]
}

/** The options of {@link validateManifests}. */
export interface ValidateManifestsOptions {
  readonly clock: Clock
  /** Objects that exist beforehand: CRDs, namespaces with labels, policies. */
  readonly present?: readonly ManifestDocument[] | undefined
  /** The state that the manifests update. */
  readonly old?: readonly ManifestDocument[] | undefined
  /** The CRDs under which the old state was written. @default those of `present` */
  readonly oldPresent?: readonly ManifestDocument[] | undefined
  /** The handling of unknown and repeated fields. @default 'Strict' */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined
  /** The minor release of Kubernetes whose API server validates. @default the newest stable one */
  readonly kubernetes?: string | undefined
  /** The namespace of objects that name none. @default 'default' */
  readonly namespace?: string | undefined
}

/**
 * Sends manifests to an API server in this process, one after the other as `kubectl apply` does. CRDs go first; namespaces and service
 * accounts are created when an object names them. The server is the same code that serves clusters, so defaults, rules and messages are
 * the same.
 */
export async function validateManifests(
  documents: readonly ManifestDocument[],
  options: ValidateManifestsOptions,
): Promise<ManifestVerdict[]> {
  const server = await startOfflineServer(options.clock, options.kubernetes)
  try {
    const session = new Session(server, options)
    const present = [...(options.present ?? []), ...documents.filter(({ value }) => isCrd(value))]
    const validated = new Set(documents)
    await session.prepare(options.oldPresent ?? present, validated)
    await session.prepare(options.old ?? [], validated)
    if (options.oldPresent !== undefined) {
      await session.prepare(present, validated)
      await server.settled()
    }
    return await session.validate(documents)
  } finally {
    await server[Symbol.asyncDispose]()
  }
}

interface Item {
  readonly document: ManifestDocument
  readonly object: Readonly<Record<string, unknown>>
  /** The source, if the object is the whole document. */
  readonly text?: string | undefined
}

class Session {
  readonly #server: OfflineServer
  readonly #options: ValidateManifestsOptions
  readonly #namespaces = new Set<string>()
  /** The keys of objects that existed before the manifests. */
  readonly #before = new Set<string>()

  constructor(server: OfflineServer, options: ValidateManifestsOptions) {
    this.#server = server
    this.#options = options
  }

  /** Stores objects that the manifests need. Throws if the server rejects one, unless it is among the validated documents. */
  async prepare(documents: readonly ManifestDocument[], validated: ReadonlySet<ManifestDocument>): Promise<void> {
    const items = itemsOf(documents)
    for (const definitionsFirst of [true, false]) {
      for (const item of items.filter(({ object }) => isCrd(object) === definitionsFirst)) {
        const response = await this.#write(item, 'Ignore')
        if (!validated.has(item.document)) {
          const { file, line } = item.document
          if (!response.ok)
            throw new KubewrightError(
              'KW_MANIFEST',
              `${file}:${line} is needed for the validation but is rejected: ${response.message}`,
            )
          this.#before.add(keyOf(item.object, response.target))
        }
      }
    }
  }

  async validate(documents: readonly ManifestDocument[]): Promise<ManifestVerdict[]> {
    const verdicts: ManifestVerdict[] = []
    for (const document of documents) {
      if (document.problem !== undefined) verdicts.push(unreadable(document, document.problem))
      else if (!isJsonObject(document.value)) verdicts.push(unreadable(document, 'the document is not an object'))
      else for (const item of itemsOf([document])) verdicts.push(await this.#validateOne(item))
    }
    return verdicts
  }

  async #validateOne(item: Item): Promise<ManifestVerdict> {
    const { document, object } = item
    const response = await this.#write(item, this.#options.fieldValidation ?? 'Strict')
    // The server stops at unknown fields. A second request without the strict check finds the other problems too.
    const isStrict = !response.ok && response.message.includes('strict decoding error')
    const further = isStrict ? await this.#write(item, 'Ignore') : response
    const { namespace, name } = response.target
    return {
      file: document.file,
      line: document.line,
      apiVersion: String(object['apiVersion'] ?? ''),
      kind: String(object['kind'] ?? ''),
      ...(namespace === undefined ? {} : { namespace }),
      name,
      valid: response.ok,
      updated: this.#before.has(keyOf(object, response.target)),
      ...(response.ok ? {} : { message: response.message }),
      problems: [...(response.ok ? [] : problemsOf(response)), ...(isStrict && !further.ok ? problemsOf(further) : [])],
      warnings: response.warnings,
      filled: response.ok ? filledFields(object, response.object) : [],
    }
  }

  /** Creates an object, or updates it if it exists. */
  async #write(item: Item, fieldValidation: string): Promise<ServerResponse & { target: Target }> {
    const { object } = item
    const { apiVersion, kind } = object
    const target = targetOf(object)
    const rejected = (message: string): ServerResponse & { target: Target } => ({
      ok: false,
      message,
      reason: '',
      causes: [],
      warnings: [],
      target,
    })
    if (typeof apiVersion !== 'string' || apiVersion === '') return rejected('apiVersion not set')
    if (typeof kind !== 'string' || kind === '') return rejected('kind not set')
    const resource = await this.#resourceOf(apiVersion, kind)
    if (typeof resource === 'string') return rejected(resource)
    const namespaced = resource.scope === 'Namespaced'
    const namespace = namespaced ? (target.namespace ?? this.#options.namespace ?? 'default') : undefined
    const full: Target = { name: target.name, ...(namespace === undefined ? {} : { namespace }) }
    if (namespace !== undefined) await this.#createNamespace(namespace)
    if (kind === 'Pod' && apiVersion === 'v1') await this.#createServiceAccount(object, namespace ?? 'default')
    const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
    const path = `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource.plural}`
    const query = new URLSearchParams({ fieldValidation })
    // Read first, because on a create the server validates before it detects that the object exists.
    const own = `${path}/${encodeURIComponent(target.name)}`
    const current = target.name === '' ? undefined : await this.#server.send({ method: 'GET', path: own })
    const response = current?.ok
      ? await this.#update(item, own, query, current.object)
      : await this.#create(item, path, query)
    if (response.ok && isCrd(object)) {
      const problem = await this.#server.served(object.metadata.name)
      if (problem !== undefined) return { ...rejected(problem), warnings: response.warnings }
    }
    return { ...response, target: full }
  }

  #create({ object, text }: Item, path: string, query: URLSearchParams): Promise<ServerResponse> {
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
  ): Promise<ServerResponse> {
    const before = current['metadata']
    const { metadata } = item.object
    const object = {
      ...item.object,
      metadata: {
        ...(isJsonObject(metadata) ? metadata : {}),
        resourceVersion: isJsonObject(before) ? before['resourceVersion'] : undefined,
      },
    }
    // The body is not the source of the document, so the server cannot see repeated keys: check them here.
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
      const fix = group.includes('.') ? ': give its CRD with --crd' : ''
      return `${error.message}${fix}`
    }
  }

  async #createNamespace(name: string): Promise<void> {
    if (this.#namespaces.has(name)) return
    this.#namespaces.add(name)
    // An invalid name is reported for the object in the namespace.
    await this.#server.send(
      createRequest('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    )
    await this.#createAccount(name, 'default')
  }

  async #createServiceAccount(pod: Readonly<Record<string, unknown>>, namespace: string): Promise<void> {
    const { spec } = pod
    const name = isJsonObject(spec) ? spec['serviceAccountName'] : undefined
    if (typeof name === 'string' && name !== '') await this.#createAccount(namespace, name)
  }

  async #createAccount(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`
    await this.#server.send(
      createRequest(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }),
    )
  }
}

interface Target {
  readonly namespace?: string | undefined
  readonly name: string
}

function targetOf({ metadata }: Readonly<Record<string, unknown>>): Target {
  const { name, generateName, namespace } = isJsonObject(metadata) ? metadata : {}
  const shown = typeof name === 'string' ? name : typeof generateName === 'string' ? `${generateName}*` : ''
  return { name: shown, ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}) }
}

// A document that starts with a brace may still be YAML.
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A key that is equal for all versions of a kind. */
function keyOf({ apiVersion, kind }: Readonly<Record<string, unknown>>, { namespace, name }: Target): string {
  return `${parseGroupVersion(String(apiVersion)).group}/${String(kind)}/${namespace ?? ''}/${name}`
}

const createRequest = (path: string, object: object): { method: string; path: string; body: string } => ({
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

function problemsOf({ message, causes }: Extract<ServerResponse, { ok: false }>): ManifestProblem[] {
  const fields = causes.filter((cause) => cause.field !== undefined && cause.message !== undefined)
  if (fields.length === 0) return [{ message }]
  return fields.map((cause) => ({ field: cause.field!, message: cause.message! }))
}
