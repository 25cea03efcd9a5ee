import type { AnyKind, KubeObject } from '@kubewright/api'
import {
  type Clock,
  type Duration,
  drainMicrotasks,
  errorText,
  KubewrightError,
  type Logger,
  nullLogger,
  type Random,
  seededRandom,
  toMillis,
  VirtualClock,
} from '@kubewright/base'
import { type Client, createClient, type Impersonation, type Transport } from '@kubewright/client'
import {
  type ControlPlane,
  type ControlPlaneSnapshot,
  type NodesOptions,
  startControlPlane,
} from '@kubewright/controlplane'
import { ClusterRole, ClusterRoleBinding, Namespace } from '@kubewright/k8s'
import {
  accessOf,
  createWebhookHandler,
  definitionsOf,
  mergeRules,
  type Operator,
  registerLocally,
} from '@kubewright/runtime'
import { ServiceAccountKeys } from '@kubewright/server'
import { chooseCluster } from './choose-cluster.ts'
import { objectId, objectsSince } from './cluster-state.ts'
import { type InputObject, inputObjectsOf } from './input-objects.ts'
import { invalidValuesOf } from './invalid-values.ts'
import { type FormMetadata, isBuiltin, metadataVariantsOf, relabeledOf, selectorsOf } from './metadata-variants.ts'
import type { Invariant, OperatorFactory, SimulateOptions } from './options.ts'
import { retains } from './retention.ts'
import { combinedVariant, minimalValue, switchedVariants, type Variant, variantsOf } from './variants.ts'

/** The host of the operator's webhooks. It is never resolved. */
export const webhookHost = 'webhooks.kubewright.test:443'

/** A custom resource that the user of a schedule creates, changes and deletes. */
export interface Subject {
  readonly kind: AnyKind
  readonly namespace: string | undefined
  readonly name: string
  /** The path of its collection. */
  readonly collection: string
  /** The index of its sample. */
  readonly sample: number
}

/** The second namespace: each subject has a twin in it. */
const otherNamespace = 'other'
const maxVariants = 16
const maxRefused = 12
const maxSwitches = 4
// After the changes of two fields, which are easier to understand.
const relabeledPlace = 3
// Controllers act on the changes of an instant together, so that a roll-out needs fewer writes.
const debounce: Duration = '1ms'
const controllerUser = 'system:kube-controller-manager'
const deletionDelay = 100

interface Sample {
  readonly kind: AnyKind
  readonly metadata: FormMetadata & { readonly name: string }
  readonly variants: readonly Variant[]
  /** Forms that the server refuses to create, with its message. */
  readonly refused: readonly RefusedVariant[]
}

interface RefusedVariant extends Variant {
  readonly message: string
}

/** Everything that all schedules of a simulation share: the operator, its samples and a cluster to start from. */
export class Setup {
  readonly invariants: readonly Invariant[]
  readonly hasOngoingInvariants: boolean
  readonly without: ReadonlySet<string>
  readonly ignore: readonly string[]
  readonly latency: readonly [number, number]
  readonly maxRequests: number
  readonly writesAtRest: number
  readonly log: Logger | undefined
  readonly replicas: number
  /** An instance for facts that do not depend on the process. */
  readonly operator: Operator
  readonly subjects: readonly Subject[]
  readonly samples: readonly Sample[]
  /** Whether the author has given the samples of the operator's kinds. */
  readonly hasGivenSamples: boolean
  readonly watchedKinds: ReadonlySet<string>
  /** The kinds of objects of other owners whose changes the operator follows. */
  readonly followedKinds: ReadonlySet<string>
  /** The plurals of the resources that the operator watches. */
  readonly watchedResources: readonly string[]
  readonly onlyLeaderWrites: boolean
  readonly hasWebhooks: boolean
  readonly hasPods: boolean
  /** Whether the operator or its workloads use volumes. */
  readonly hasVolumes: boolean
  readonly rights: Impersonation
  readonly now: number
  readonly revision: number
  /** The uids of the objects that exist before the operator starts. */
  readonly inputs: ReadonlySet<string>
  /** The plurals of the resources that the operator may change, apart from those of the subjects. */
  readonly changeable: ReadonlySet<string>
  /** The forms of objects that oracles at the end of a run need not check again. */
  readonly passedForms: Set<string> = new Set()
  /** The inputs that the user of a schedule changes. */
  readonly inputObjects: readonly InputObject[]
  readonly #isHeld: SimulateOptions['isHeld']
  readonly #create: OperatorFactory<unknown>
  readonly #world: () => unknown
  readonly #processes: SimulateOptions['processes']
  readonly #snapshot: ControlPlaneSnapshot
  readonly #cluster: ReturnType<typeof chooseCluster>
  readonly #keys: readonly string[]

  private constructor(parts: SetupParts, options: SimulateOptions) {
    const { operator } = parts
    this.operator = operator
    this.invariants = (options.invariants ?? []) as readonly Invariant[]
    this.hasOngoingInvariants = this.invariants.some(({ when }) => when !== 'settled')
    this.without = new Set(options.without ?? [])
    this.ignore = options.ignore ?? []
    const [low, high] = options.latency ?? ['1ms', '5ms']
    this.latency = [toMillis(low), toMillis(high)]
    this.maxRequests = options.maxRequests ?? 3000
    this.writesAtRest = options.writesAtRest ?? 60
    this.log = options.log
    this.replicas = options.replicas ?? (operator.leaderElection === false ? 1 : 2)
    this.samples = parts.samples
    const given = (options.samples ?? []) as readonly KubeObject[]
    const kinds = new Set(given.map(({ kind }) => kind))
    const names = new Set(given.map(({ metadata }) => metadata.name))
    const inputs = given.filter(({ kind }) => !this.isSubjectKind(kind))
    this.followedKinds = new Set(operator.controllers.flatMap(followedBy))
    const followed = watchedBy(operator).filter(({ kind }) => this.followedKinds.has(kind))
    this.inputObjects = inputObjectsOf(inputs, { kinds: followed, selectors: selectorsOf(operator), names })
    this.hasGivenSamples = parts.samples.every(({ kind }) => kinds.has(kind.kind))
    this.subjects = parts.subjects
    const watched = watchedBy(operator)
    this.watchedKinds = new Set(watched.map(({ kind }) => kind))
    this.watchedResources = [...new Set(watched.map(({ plural }) => plural))].sort()
    this.onlyLeaderWrites =
      operator.leaderElection !== false &&
      operator.runnables.every(({ phase = 'leader' }) => phase === 'leader') &&
      operator.controllers.every(({ needsLeader }) => needsLeader !== false)
    this.hasWebhooks = operator.webhooks.length + operator.conversions.length > 0
    this.hasPods = parts.cluster.nodes > 0
    this.hasVolumes = parts.cluster.controllers.includes('persistentvolume-binder-controller')
    this.rights = parts.rights
    this.now = parts.now
    this.revision = parts.revision
    this.inputs = parts.inputs
    this.changeable = new Set(
      rulesOf(operator)
        .filter(mayChange)
        .flatMap(({ resources = [] }) => resources),
    )
    this.#isHeld = options.isHeld
    this.#processes = options.processes
    this.#create = parts.create
    this.#world = parts.world
    this.#snapshot = parts.snapshot
    this.#cluster = parts.cluster
    this.#keys = parts.keys
  }

  static async create<World>(
    given: Operator | OperatorFactory<World>,
    options: SimulateOptions<World>,
  ): Promise<Setup> {
    const create = (typeof given === 'function' ? given : () => given) as OperatorFactory<unknown>
    const world = (options.world ?? (() => undefined)) as () => unknown
    const operator = create({ world: world() })
    const clock = new VirtualClock()
    const random = seededRandom('setup')
    const cluster = chooseCluster(operator, options.samples ?? [])
    const keys = [ServiceAccountKeys.generate()]
    const access = { serviceAccounts: { keys } }
    const plane = await startControlPlane({ clock, random, nodes: cluster.nodes, server: { access } })
    const driven = <T>(work: Promise<T>): Promise<T> => drive(clock, work)
    const rights = await driven(install(plane, operator, clock))
    const samples = await driven(prepareSamples(plane, operator, options.samples ?? []))
    await clock.advance('10s')
    const subjects = samples.flatMap((sample, index) => subjectsOf(sample, index))
    if (subjects.length === 0) {
      throw new KubewrightError(
        'KW_SIMULATION_SAMPLES',
        `Cannot simulate operator "${operator.name}": none of the samples is of a kind that it controls, and none could be generated; pass 'samples'`,
      )
    }
    const snapshot = plane.snapshot()
    const { store } = plane.server.parts.registry
    const revision = await store.revision()
    const inputs = new Set((await objectsSince(store, 0)).map(({ metadata }) => metadata.uid))
    const now = clock.now()
    await driven(Promise.resolve(plane[Symbol.asyncDispose]()))
    const parts = { operator, create, world, samples, subjects, snapshot, revision, inputs, now, rights, cluster, keys }
    return new Setup(parts, options as unknown as SimulateOptions)
  }

  /** Creates the state outside the cluster. */
  createWorld(): unknown {
    return this.#world()
  }

  createOperator(world: unknown): Operator {
    return this.#create({ world })
  }

  /** `plan` is the behaviour of the containers, `world` the state outside the cluster. */
  startPlane(
    clock: Clock,
    random: Random,
    plan: NonNullable<NodesOptions['plan']>,
    world: unknown,
  ): Promise<ControlPlane> {
    const { controllers, collects, events } = this.#cluster
    const processes = this.#processes?.(world)
    const running = { nodes: this.#cluster.nodes, plan, ...(processes === undefined ? {} : { processes }) }
    const nodes = this.#cluster.nodes === 0 ? 0 : running
    const access = { serviceAccounts: { keys: this.#keys } }
    // A run is too short for many revisions, and each check of their number costs a turn of the event loop.
    const server = { access, history: { revisions: Number.POSITIVE_INFINITY } }
    const intercept = (transport: Transport, { name }: { readonly name: string }): Transport =>
      name === controllerUser ? slowDeletions(transport, clock) : transport
    return this.#snapshot.start({ clock, random, controllers, nodes, collects, events, debounce, server, intercept })
  }

  isSubjectKind(kind: string): boolean {
    return this.samples.some((sample) => sample.kind.kind === kind)
  }

  /** The fields of a variant besides type and metadata. */
  bodyOf(subject: Subject, variant: number): Readonly<Record<string, unknown>> {
    const { variants } = this.samples[subject.sample]!
    return variants[variant % variants.length]!.body
  }

  variantText(subject: Subject, variant: number): string {
    const { variants } = this.samples[subject.sample]!
    const { text } = variants[variant % variants.length]!
    return text === '' ? '' : ` with ${text}`
  }

  /** Whether the form of a subject makes the operator stop its work. */
  isHeld(subject: Subject, variant: number): boolean {
    const { variants } = this.samples[subject.sample]!
    const { body, isHeld = false } = variants[variant % variants.length]!
    return this.#isHeld?.(this.objectOf(subject, body) as KubeObject) ?? isHeld
  }

  /** Whether something of a form of a subject stays on purpose when it is deleted. */
  isRetained(subject: Subject, variant: number): boolean {
    const spec = subject.kind.schema.properties?.['spec']
    return spec !== undefined && retains(spec, this.bodyOf(subject, variant)['spec'])
  }

  /** Whether the form of a subject has a larger volume, which cannot shrink again. */
  isGrowth(subject: Subject, variant: number): boolean {
    const { variants } = this.samples[subject.sample]!
    return variants[variant % variants.length]!.isGrowth ?? false
  }

  /** The forms whose changes a form of a subject combines; empty if it has at most one change. */
  partsOf(subject: Subject, variant: number): readonly number[] {
    const { variants } = this.samples[subject.sample]!
    return variants[variant % variants.length]!.parts ?? []
  }

  /** A form of a subject that the server refuses to create. */
  refusedOf(subject: Subject, index: number): RefusedVariant | undefined {
    return this.samples[subject.sample]!.refused[index]
  }

  /** The object to create for a subject. */
  objectOf(subject: Subject, body: object): object {
    const { metadata } = this.samples[subject.sample]!
    const { apiVersion, kind } = subject.kind
    const { metadata: own, ...fields } = body as { metadata?: FormMetadata }
    const named = { ...metadata, ...own, name: subject.name, namespace: subject.namespace }
    return { apiVersion, kind, metadata: named, ...fields }
  }
}

/** Delays the deletions of the built-in controllers: children exist for a while when their owner is gone, as in a real cluster. */
const slowDeletions = (transport: Transport, clock: Clock): Transport => ({
  host: transport.host,
  async send(request, limited) {
    if (request.method === 'DELETE') await clock.sleep(deletionDelay)
    return transport.send(request, limited)
  },
  [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
})

interface SetupParts {
  readonly operator: Operator
  readonly create: OperatorFactory<unknown>
  readonly world: () => unknown
  readonly samples: readonly Sample[]
  readonly subjects: readonly Subject[]
  readonly snapshot: ControlPlaneSnapshot
  readonly revision: number
  readonly inputs: ReadonlySet<string>
  readonly now: number
  readonly rights: Impersonation
  readonly cluster: ReturnType<typeof chooseCluster>
  readonly keys: readonly string[]
}

async function drive<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await drainMicrotasks()
    if (!isDone) await clock.advanceToNext()
  }
  return done
}

/** The rules of all roles of an operator. */
function rulesOf(operator: Operator): ReturnType<typeof mergeRules> {
  const { cluster, watched, own, elsewhere } = accessOf(operator, { secureMetrics: false, managedCertificates: false })
  return mergeRules([...cluster, ...watched, ...own, ...[...elsewhere.values()].flat()])
}

const mayChange = ({ verbs }: { readonly verbs: readonly string[] }): boolean =>
  verbs.some((verb) => verb === 'update' || verb === 'patch' || verb === 'delete' || verb === '*')

/** Installs the kinds, the permissions and the webhooks of the operator. */
async function install(plane: ControlPlane, operator: Operator, clock: VirtualClock): Promise<Impersonation> {
  const admin = plane.client()
  await admin.create(Namespace({ metadata: { name: otherNamespace } }))
  // The CRD is untyped here; the server validates it.
  for (const crd of definitionsOf(operator)) await admin.apply(crd as never, { force: true })
  const account = `system:serviceaccount:${operator.name}-system:${operator.name}-controller-manager`
  const rules = rulesOf(operator)
  const metadata = { name: `${operator.name}-manager-role` }
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.apply(ClusterRole({ metadata, rules }), { force: true })
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name }
  const subjects = [{ apiGroup, kind: 'User', name: account }]
  await admin.apply(ClusterRoleBinding({ metadata, roleRef, subjects }), { force: true })
  await clock.sleep(2000)
  if (operator.webhooks.length + operator.conversions.length > 0) {
    const { webhooks, conversions } = operator
    const handler = createWebhookHandler({
      webhooks,
      conversions,
      client: plane.client({ listNamespace: '' }),
      clock,
      log: nullLogger,
    })
    plane.localServers.serve(webhookHost, async (request) => handler(request as never))
    const url = `https://${webhookHost.replace(':443', '')}`
    await registerLocally(operator, { client: admin, url, caBundle: '', log: nullLogger })
    await clock.sleep(1000)
  }
  return { user: account, groups: ['system:serviceaccounts', 'system:authenticated'] }
}

/** Creates the input objects, and prepares the variants of the others. */
async function prepareSamples(plane: ControlPlane, operator: Operator, given: readonly object[]): Promise<Sample[]> {
  const kinds = controlledKinds(operator)
  const samples: Sample[] = []
  const admin = createClient({ transport: plane.transport(), clock: plane.clock, namespace: 'default' })
  const subjects: { readonly kind: AnyKind; readonly object: KubeObject }[] = []
  for (const object of given as readonly KubeObject[]) {
    const kind = kinds.find((one) => one.kind === object.kind && groupOf(object.apiVersion) === one.group)
    if (kind !== undefined) {
      // A sample of another version has other fields; the conversion has tests of its own.
      if (object.apiVersion === kind.apiVersion) subjects.push({ kind, object })
      continue
    }
    await createInput(admin, object)
    const { namespace = 'default', ...metadata } = object.metadata
    const isInNamespace = !clusterScoped.has(object.kind) && namespace === 'default'
    const copy = { ...object, metadata: { ...metadata, namespace: otherNamespace } }
    if (isInNamespace) await admin.apply(copy as never, { fieldManager: 'user', force: true }).catch(() => undefined)
  }
  const missing = kinds.filter((kind) => !subjects.some((subject) => subject.kind.kind === kind.kind))
  if (subjects.length === 0) {
    for (const kind of missing) {
      const object = generatedSample(kind)
      if (object !== undefined && (await refusalOf(plane, kind, object)) === undefined) subjects.push({ kind, object })
    }
  }
  for (const { kind, object } of subjects) {
    const { apiVersion: _, kind: __, metadata, status: ___, ...body } = object as KubeObject & Record<string, unknown>
    const { name, labels, annotations } = metadata
    const kept = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) }
    const draftOf = ({ body: { metadata: _, ...fields } }: Variant): object => ({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name },
      ...fields,
    })
    const variants: Variant[] = [{ text: '', body }]
    if (isBuiltin(kind)) variants.push(...metadataVariantsOf(body, kept, selectorsOf(operator)))
    const refused: RefusedVariant[] = []
    const names = new Set(
      (given as readonly KubeObject[]).filter((other) => other !== object).map(({ metadata: { name } }) => name),
    )
    const alone: Variant[] = []
    for (const variant of spread(variantsOf(kind.schema, body, names), 64)) {
      if (variants.length >= maxVariants) break
      const message = await refusalOf(plane, kind, draftOf(variant))
      if (message === undefined) variants.push(variant)
      else {
        alone.push(variant)
        if (refused.length < maxRefused / 2) refused.push({ ...variant, message })
      }
    }
    for (const variant of switchedVariants(variants[0]!, alone).slice(0, maxSwitches)) {
      if ((await refusalOf(plane, kind, draftOf(variant))) === undefined) variants.push(variant)
    }
    if (!isBuiltin(kind)) variants.splice(relabeledPlace, 0, ...relabeledOf(body, kept, selectorsOf(operator)))
    const combined = combinedVariant(variants)
    if (combined !== undefined && (await refusalOf(plane, kind, draftOf(combined))) === undefined) {
      variants.push(combined)
    }
    // If the server does not accept the sample itself, a refusal of another form means nothing.
    const isAccepted = (await refusalOf(plane, kind, draftOf(variants[0]!))) === undefined
    for (const variant of isAccepted ? spread(invalidValuesOf(kind.schema, body), 32) : []) {
      if (refused.length >= maxRefused) break
      const message = await refusalOf(plane, kind, draftOf(variant))
      if (message !== undefined) refused.push({ ...variant, message })
    }
    samples.push({ kind, metadata: kept, variants, refused: isAccepted ? refused : [] })
  }
  return samples
}

async function createInput(admin: Client, object: KubeObject): Promise<void> {
  try {
    await admin.apply(object as never, { fieldManager: 'user', force: true })
  } catch (cause) {
    throw new KubewrightError(
      'KW_SIMULATION_SAMPLES',
      `Cannot create the given ${objectId(object)} before the operator starts: ${errorText(cause)}`,
      { cause },
    )
  }
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.replace(/\/.*/s, '') : '')

/** At most `most` items, spread over the list. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!)
}

const clusterScoped = new Set([
  'Namespace',
  'Node',
  'PersistentVolume',
  'StorageClass',
  'ClusterRole',
  'ClusterRoleBinding',
])

/** The message with which the server or one of the operator's webhooks refuses to create an object; undefined if they accept it. */
async function refusalOf(plane: ControlPlane, kind: AnyKind, draft: object): Promise<string | undefined> {
  const namespace = kind.scope === 'Namespaced' ? 'default' : undefined
  const path = `${collectionPath(kind, namespace)}?dryRun=All`
  const body = Buffer.from(JSON.stringify(draft))
  const headers = { 'content-type': 'application/json' }
  const response = await plane.transport().send({ method: 'POST', path, headers, body })
  const answer = JSON.parse(Buffer.from(await response.body.bytes()).toString()) as { message?: string }
  return response.status < 300 ? undefined : (answer.message ?? `status ${response.status}`)
}

/** The kinds whose objects a user creates for the operator. */
function controlledKinds(operator: Operator): AnyKind[] {
  const children = new Set(
    operator.controllers.flatMap((one) => ('owns' in one ? one.owns.map(({ kind }) => kind) : [])),
  )
  const kinds = operator.controllers.flatMap(({ kind }) => (kind === undefined ? [] : [kind]))
  // Kinds that other controllers of the operator create are not created by users.
  return [...new Set(kinds)].filter((kind) => !children.has(kind))
}

/** The kinds whose objects of other owners a controller follows. */
function followedBy(controller: Operator['controllers'][number]): string[] {
  const watches = 'watches' in controller ? controller.watches.map(({ kind }) => kind.kind) : []
  return [...watches, ...controller.sources.flatMap(({ kind }) => kind?.kind ?? [])]
}

function watchedBy(operator: Operator): AnyKind[] {
  return operator.controllers.flatMap((one) => {
    const kinds = 'owns' in one ? [...one.owns, ...one.watches].map(({ kind }) => kind) : []
    kinds.push(...one.sources.flatMap(({ kind }) => (kind === undefined ? [] : [kind])))
    return one.kind === undefined ? kinds : [one.kind, ...kinds]
  })
}

/** An object with the required fields of the schema. */
function generatedSample(kind: AnyKind): KubeObject | undefined {
  const { apiVersion, kind: name, schema } = kind
  const spec = schema.properties?.['spec']
  const body = spec === undefined ? {} : minimalValue(spec, 'spec')
  if (body === undefined) return undefined
  const object = { apiVersion, kind: name, metadata: { name: `${kind.singular}-sample` } }
  return (spec === undefined ? object : { ...object, spec: body }) as unknown as KubeObject
}

function collectionPath({ group, version, plural, scope }: AnyKind, namespace: string | undefined): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return scope === 'Namespaced' ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`
}

function subjectsOf({ kind, metadata }: Sample, sample: number): Subject[] {
  if (kind.scope === 'Cluster') {
    return [metadata.name, `${metadata.name}-2`].map((name) => ({
      kind,
      namespace: undefined,
      name,
      collection: collectionPath(kind, undefined),
      sample,
    }))
  }
  const places = [
    { namespace: 'default', name: metadata.name },
    { namespace: otherNamespace, name: metadata.name },
    { namespace: 'default', name: `${metadata.name}-2` },
  ]
  return places.map(({ namespace, name }) => ({
    kind,
    namespace,
    name,
    collection: collectionPath(kind, namespace),
    sample,
  }))
}
