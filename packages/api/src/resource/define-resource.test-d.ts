import { type Condition, type PathOf, s } from '@kubewright/schema'
import {
  type AnyKind,
  condition,
  type Draft,
  defineResource,
  type Infer,
  type Kind,
  type ObjectMeta,
} from '../index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const ok = <T extends true>(_?: T): void => undefined

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  shortNames: ['hm'],
  spec: s.object({
    image: s.string({ minLength: 1 }).describe('Container image to serve.'),
    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
    domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
  }),
  status: s.object({
    readyReplicas: s.int(),
    conditions: s.conditions('Ready'),
  }),
  columns: { Ready: '.status.readyReplicas', Domain: '.spec.domain' },
})
type Home = Infer<typeof Home>

ok<Equal<Home['spec'], { readonly image: string; readonly replicas: number; readonly domain?: string }>>()
ok<Equal<Draft<typeof Home>['spec'], { image: string; replicas?: number; domain?: string }>>()
ok<Equal<NonNullable<Home['status']>['conditions'][number]['type'], 'Ready'>>()
ok<Equal<Home['metadata']['name'], string>>()
ok<Equal<Home['metadata']['creationTimestamp'], string>>()
ok<Equal<Home['metadata']['namespace'], string | undefined>>()
ok<Equal<Infer<(typeof Home)['versions']['v1']>, Home>>()

const draft = Home({ metadata: { name: 'a' }, spec: { image: 'x' } })
ok<Equal<(typeof draft)['spec'], { image: string; replicas?: number; domain?: string }>>()
draft.spec.replicas = 2

// @ts-expect-error the field image is required
Home({ metadata: { name: 'a' }, spec: {} })
// @ts-expect-error unknown field
Home({ metadata: { name: 'a' }, spec: { image: 'x', replica: 2 } })
// @ts-expect-error wrong type
Home({ metadata: { name: 'a' }, spec: { image: 'x', replicas: '2' } })
// @ts-expect-error a draft has no status
Home({ metadata: { name: 'a' }, spec: { image: 'x' }, status: {} })
// @ts-expect-error a path starts with a dot
defineResource({ group: 'a.b', version: 'v1', kind: 'A', spec: s.object({}), columns: { X: 'spec.x' } })

// Stand-ins for the runtime functions whose signatures depend on these types.
declare function defineController<R, W, St>(
  kind: Kind<R, W, St>,
  definition: { owns?: readonly AnyKind[]; reconcile(object: R): { status?: St } | undefined },
): void
declare function defineWebhook<R extends { spec: unknown }, W, St>(
  kind: Kind<R, W, St>,
  definition: { default?(draft: W): void; validate?(object: R): PathOf<Pick<R, 'spec'>>[] },
): void

defineController(Home, {
  owns: [Home],
  reconcile(home) {
    // @ts-expect-error cached objects are readonly
    home.spec.replicas = 2
    // replicas has a default, so a read never returns undefined
    const n: number = home.spec.replicas
    // @ts-expect-error domain may be absent
    const d: string = home.spec.domain
    void [n, d]
    return { status: { readyReplicas: 1, conditions: [condition('Ready', true, 'Serving')] } }
  },
})
defineController(Home, {
  reconcile: () => ({
    // @ts-expect-error the condition type is not declared
    status: { readyReplicas: 1, conditions: [condition('Redy', true, 'X')] },
  }),
})
defineWebhook(Home, {
  default(home) {
    home.spec.domain ??= `${home.metadata.name}.homes.example.com`
    home.spec.replicas = 3
  },
  validate: () => ['spec.domain'],
})
defineWebhook(Home, {
  // @ts-expect-error no such field path
  validate: () => ['spec.domian'],
})

// Several versions: each has its own Kind, and the result is the Kind of the storage version.
const Room = defineResource({
  group: 'ajd.example.com',
  kind: 'Room',
  versions: {
    v1: { storage: true, spec: s.object({ beds: s.int() }), status: s.object({ guests: s.int() }) },
    v1beta1: { deprecated: 'ajd.example.com/v1beta1 Room is deprecated', spec: s.object({ size: s.string() }) },
  },
})
ok<Equal<Infer<typeof Room>['spec'], { readonly beds: number }>>()
ok<Equal<Infer<typeof Room.versions.v1>, Infer<typeof Room>>>()
ok<Equal<Infer<typeof Room.versions.v1beta1>['spec'], { readonly size: string }>>()
ok<Equal<(typeof Room.versions.v1)['$status'], { guests: number }>>()
ok<Equal<(typeof Room.versions.v1beta1)['$status'], never>>()
Room.versions.v1beta1({ metadata: { name: 'a' }, spec: { size: 'big' } })
// @ts-expect-error the storage version has other fields
Room({ metadata: { name: 'a' }, spec: { size: 'big' } })

// Fields besides the spec, an optional spec, no status.
const Note = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Note',
  scope: 'Cluster',
  spec: s.object({ lang: s.string() }).optional(),
  fields: { text: s.string(), tags: s.array(s.string()).default([]) },
})
type Note = Infer<typeof Note>
ok<Equal<Note['text'], string>>()
ok<Equal<Note['tags'], readonly string[]>>()
ok<Equal<Note['spec'], { readonly lang: string } | undefined>>()
Note({ metadata: { name: 'a' }, text: 'hello' })

const Bare = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Bare' })
Bare({ metadata: { name: 'a' } })
// @ts-expect-error there is no spec
Bare({ metadata: { name: 'a' }, spec: {} })

const meta: ObjectMeta = { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
void meta
ok<Equal<ReturnType<typeof condition<'Ready'>>['type'], Condition<'Ready'>['type']>>()
