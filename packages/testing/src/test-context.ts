import type { AnyKind, DraftParts, Infer, KubeObject, TypeMeta } from '@kubewright/api'
import { deepCopy, deepFreeze, nullLogger } from '@kubewright/base'
import type { Context, EventOptions, Review } from '@kubewright/runtime'
import { compileSchema } from '@kubewright/schema'

const date = '2025-01-01T00:00:00Z'

/** An Event that a reconciler recorded on a {@link TestContext}. */
export interface TestEvent extends EventOptions {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** A context that records what a reconciler does with it. Nothing reaches a server. */
export interface TestContext extends Context {
  /** The children that were applied, in order. */
  readonly applied: readonly KubeObject[]
  readonly events: readonly TestEvent[]
  /** The arguments of `mergeStatus`, in order. */
  readonly statuses: readonly object[]
}

/**
 * Creates a context for a unit test of `reconcile`, `cleanup` or `onError`. `apply` records the child and returns it,
 * and `children` returns the applied children of a kind. Members that have no default, such as `client`, throw when they are used
 * and not among the `members`.
 *
 * @example
 * const context = testContext({ now: () => new Date('2026-01-01') })
 * const outcome = await homeController.reconcile(testObject(Home, { metadata: { name: 'cosy' }, spec }), context)
 */
export function testContext(members: Partial<Context> = {}): TestContext {
  const applied: KubeObject[] = []
  const events: TestEvent[] = []
  const statuses: object[] = []
  const context: TestContext = {
    client: missing('client'),
    cluster: missing('cluster'),
    clusters: missing('clusters'),
    watch: () => Promise.reject(noMember('watch')),
    signal: new AbortController().signal,
    now: () => new Date(date),
    log: nullLogger,
    causes: [],
    reconcileID: '00000000-0000-4000-8000-000000000000',
    event: (type, reason, message, options = {}) => void events.push({ type, reason, message, ...options }),
    mergeStatus: async (status) => void statuses.push(status as object),
    async apply<R>(child: object) {
      const made = deepFreeze(deepCopy(child)) as KubeObject
      applied.push(made)
      return made as R
    },
    children: async <K extends AnyKind>(kind: K) => applied.filter(isOf(kind)) as Infer<K>[],
    applied,
    events,
    statuses,
  }
  return { ...context, ...members }
}

/** Members of a {@link review}. The user's groups may be omitted. */
export type ReviewMembers<Read> = Partial<Omit<Review<Read>, 'user'>> & {
  readonly user?: Partial<Review<Read>['user']> | string | undefined
}

/**
 * Creates the second argument of `default`, `validate` and `validateDelete` for a unit test: a create by the user `test` or,
 * with `old`, an update. `client` throws when it is used and not given.
 *
 * @example
 * const issues = await homeWebhook.validate(home, review({ old: before, user: 'alice' }))
 */
export function review<Read = never>(members: ReviewMembers<Read> = {}): Review<Read> {
  const { user = {}, ...rest } = members
  const old = rest.old as KubeObject | undefined
  return {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    subresource: undefined,
    dryRun: false,
    options: {},
    namespace: old === undefined ? 'default' : old.metadata.namespace,
    client: missing('client'),
    now: () => new Date(date),
    log: nullLogger,
    signal: new AbortController().signal,
    ...rest,
    user: { name: 'test', groups: ['system:authenticated'], ...(typeof user === 'string' ? { name: user } : user) },
  }
}

/**
 * Creates an object as a client would read it, for unit tests: with the defaults of the schema and the metadata that the
 * server sets, deeply frozen. The schema is not validated.
 */
export function testObject<K extends AnyKind>(kind: K, draft: DraftParts<Omit<K['$write'], keyof TypeMeta>>): Infer<K> {
  const object = deepCopy(kind(draft as never)) as { metadata?: object | undefined }
  compileSchema(kind.schema).normalize(object)
  const set = {
    ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}),
    uid: '00000000-0000-4000-8000-000000000001',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: date,
  }
  return deepFreeze({ ...object, metadata: { ...set, ...object.metadata } }) as unknown as Infer<K>
}

const isOf =
  (kind: AnyKind) =>
  (object: KubeObject): boolean =>
    object.apiVersion === kind.apiVersion && object.kind === kind.kind

const noMember = (member: string): TypeError =>
  new TypeError(`The test context has no '${member}': pass one, such as testContext({ ${member} })`)

/** A value that throws when it is used. */
function missing<T extends object>(member: string): T {
  return new Proxy({} as T, {
    get(_, property) {
      // A runner that prints the context reads symbols and these members.
      if (typeof property === 'symbol' || property === 'then' || property === 'toJSON') return undefined
      throw noMember(member)
    },
  })
}
