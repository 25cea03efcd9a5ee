import { drainMicrotasks } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { MemoryStore, type Store } from '@kubewright/storage'
import type { ServerExtensions, ServerParts } from '../api-server.ts'
import { CrdRegistrar, type CrdRegistrarOptions, terminatingDefinitions } from '../crd/crd-registrar.ts'
import type { CrdVersion } from '../crd/definitions/crd.ts'
import { customResourceDefinitions } from '../crd/definitions/crd-strategy.ts'
import { type PlainAnswer, type PlainRequest, PlainServer } from './plain-server.ts'

/** The path of custom resource definitions. */
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The group of the definitions of {@link definition}. */
export const group = 'shop.example.com'

/** A CRD in a request. */
export interface Definition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [field: string]: unknown }
  readonly spec: Record<string, unknown>
}

/** A CRD of Widgets with the schema of their spec. */
export function definition(spec: JSONSchemaProps | CrdVersion[], more: Record<string, unknown> = {}): Definition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: Array.isArray(spec) ? spec : [version('v1', spec)],
      ...more,
    },
  }
}

/** A served version, which is the storage version if its name is v1. */
export function version(name: string, spec: JSONSchemaProps, more: CrdVersion = {}): CrdVersion {
  const openAPIV3Schema: JSONSchemaProps = {
    type: 'object',
    properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }
  return { name, served: true, storage: name === 'v1', schema: { openAPIV3Schema }, ...more }
}

/** A Widget of version v1. */
export function widget(name: string, spec: unknown, more: object = {}): object {
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name }, spec, ...more }
}

/** A plain server that serves custom resources. */
export class CrdServer implements AsyncDisposable {
  readonly plain: PlainServer
  readonly #registrar: CrdRegistrar

  private constructor(plain: PlainServer, registrar: CrdRegistrar) {
    this.plain = plain
    this.#registrar = registrar
  }

  static async start(
    store: Store = new MemoryStore(),
    optionsFor: (parts: ServerParts) => CrdRegistrarOptions = () => ({}),
  ): Promise<CrdServer> {
    let registrar: CrdRegistrar | undefined
    const setup = async (parts: ServerParts): Promise<ServerExtensions> => {
      registrar = await CrdRegistrar.start(parts, optionsFor(parts))
      return { admission: [terminatingDefinitions] }
    }
    const plain = await PlainServer.start([customResourceDefinitions], setup, store)
    return new CrdServer(plain, registrar!)
  }

  send(line: string, request: PlainRequest = {}): Promise<PlainAnswer> {
    return this.plain.send(line, request)
  }

  /** Creates or replaces a CRD and waits until it is served. */
  async define(wanted: Definition): Promise<void> {
    const path = `${crds}/${wanted.metadata.name}`
    const known = await this.send(`GET ${path}`)
    const { resourceVersion } = known.body.metadata
    const answer = resourceVersion
      ? await this.send(`PUT ${path}`, { body: { ...wanted, metadata: { ...wanted.metadata, resourceVersion } } })
      : await this.send(`POST ${crds}`, { body: wanted })
    if (answer.status > 299) throw new Error(answer.text)
    await this.until(`GET ${path}`, ({ body }) => conditionOf(body, 'Established')?.status === 'True')
    await this.plain.server.parts.registry.feed.reached(Number(answer.body.metadata.resourceVersion))
    // The registrar reacts when the feed has reached the write.
    for (let i = 0; i < 20; i++) await drainMicrotasks()
  }

  /** Repeats a request until the response matches. */
  async until(
    line: string,
    wanted: (answer: PlainAnswer) => boolean,
    request: PlainRequest = {},
  ): Promise<PlainAnswer> {
    for (let attempt = 0; attempt < 2000; attempt++) {
      const answer = await this.send(line, request)
      if (wanted(answer)) return answer
      await drainMicrotasks()
    }
    throw new Error(`${line} never returned the expected response: ${(await this.send(line, request)).text}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registrar[Symbol.asyncDispose]()
    await this.plain[Symbol.asyncDispose]()
  }
}

/** A condition of a CRD. */
export function conditionOf(
  body: { status?: { conditions?: { type: string; status: string; reason: string; message: string }[] | null } },
  type: string,
): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return body.status?.conditions?.find((condition) => condition.type === type)
}
