import { controllerRef, defineResource, type Infer, type KubeObject } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { type AccessRule, type Controller, defineOperator, type Operator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import type { SimulateOptions } from '../options.ts'

/** The kind of all planted operators. */
export const Thing = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Thing',
  spec: s.object({
    size: s.int({ minimum: 0, maximum: 4 }).default(1),
    color: s.enum('red', 'green').default('red'),
    extra: s.object({ text: s.string() }).optional(),
  }),
  status: s
    .object({
      readyReplicas: s.int().optional(),
      phase: s.string().optional(),
      checked: s.string().optional(),
      port: s.int().optional(),
      count: s.int().optional(),
    })
    .optional(),
})
export type Thing = Infer<typeof Thing>

/** A kind whose status names the generation. */
export const Seen = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Seen',
  spec: s.object({ size: s.int({ minimum: 0, maximum: 4 }).default(1) }),
  status: s.object({ observedGeneration: s.int(), phase: s.string().optional() }),
})

const sample = Thing({ metadata: { name: 'thing' }, spec: { size: 2, color: 'red', extra: { text: 'hello' } } })

/** State outside the cluster. */
export class Cloud {
  readonly buckets: Map<string, string> = new Map()
  readonly #versions = new Map<string, number>()
  readonly #readyAt = new Map<string, number>()
  #count = 0

  /** Creates a bucket with a generated name. */
  async create(owner: string): Promise<string> {
    const name = `bucket-${++this.#count}`
    this.buckets.set(name, owner)
    return name
  }

  async ensure(name: string, owner: string): Promise<void> {
    this.buckets.set(name, owner)
  }

  async remove(name: string): Promise<void> {
    this.buckets.delete(name)
    this.#versions.delete(name)
  }

  /** Removes a bucket that must exist. */
  async removeExisting(name: string): Promise<void> {
    if (!this.buckets.delete(name)) throw new Error(`there is no bucket ${name}`)
  }

  /** Sets the contents of a bucket, unless they have a newer version already. */
  async put(name: string, contents: string, version = Number.POSITIVE_INFINITY): Promise<void> {
    if (version < (this.#versions.get(name) ?? 0)) throw new Error(`bucket ${name} has a newer version`)
    if (Number.isFinite(version)) this.#versions.set(name, version)
    this.buckets.set(name, contents)
  }

  /** Starts to prepare a bucket, which takes five seconds. */
  async prepare(name: string): Promise<void> {
    if (!this.#readyAt.has(name)) this.#readyAt.set(name, Date.now() + 5000)
  }

  async isReady(name: string): Promise<boolean> {
    return Date.now() >= (this.#readyAt.get(name) ?? Number.POSITIVE_INFINITY)
  }
}

/** An operator with one mistake, and the same operator without it. */
export interface Planted {
  /** The oracle or invariant that must find the mistake. */
  readonly found: string
  readonly make: (isFixed: boolean) => (parts: { readonly world: Cloud }) => Operator
  readonly options: SimulateOptions<Cloud>
  /** Whether the search takes more than about 15 seconds, too long for each run of the tests. */
  readonly isRare: boolean
}

/** What a planted mistake is found by, the operator with it or without it, and the options of its simulation. */
export function plant(
  found: string,
  build: (isFixed: boolean, world: Cloud) => Controller | readonly Controller[] | Operator,
  { isRare = false, ...options }: SimulateOptions<Cloud> & Partial<Pick<Planted, 'isRare'>> = {},
): Planted {
  const make =
    (isFixed: boolean) =>
    ({ world }: { readonly world: Cloud }): Operator => {
      const built = build(isFixed, world)
      if ('controllers' in built) return built
      return defineOperator({ name: 'planted', controllers: Array.isArray(built) ? built : [built as Controller] })
    }
  return { found, make, isRare, options }
}

/** An operator that may run with several replicas. */
export const replicated = (...controllers: Controller[]): Operator =>
  defineOperator({ name: 'planted', controllers, leaderElection: true })

export const configOf = (thing: Thing, data: Record<string, string>, name = thing.metadata.name) =>
  ConfigMap({ metadata: { name }, data })

/** A draft with the owner reference of a child, for operators that do not use `apply` of the context. */
export const ownedConfig = (thing: Thing, data: Record<string, string>, name = thing.metadata.name) =>
  ConfigMap({
    metadata: { name, namespace: `${thing.metadata.namespace}`, ownerReferences: [controllerRef(thing as KubeObject)] },
    data,
  })

export const dataOf = ({ spec }: Thing): Record<string, string> => ({ size: String(spec.size), color: spec.color })

export const rbac: readonly AccessRule[] = [
  {
    apiGroups: [''],
    resources: ['configmaps', 'secrets', 'persistentvolumeclaims', 'pods'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  },
]

export const plantedSamples: readonly object[] = [sample]
