// Random interleavings of own writes, writes of others and delayed watch events, checked against the history of every
// object.
import { isNotFound, type KubeObject } from '@kubewright/api'
import { nullLogger, seededRandom, VirtualClock } from '@kubewright/base'
import type { Key } from '@kubewright/client'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCachedClient } from './create-cached-client.ts'
import { createObjectCache } from './create-object-cache.ts'
import { type EmbeddedServer, startEmbeddedServer } from './testdata/embedded-server.ts'
import { HeldWatches } from './testdata/held-watches.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startEmbeddedServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const names = ['a', 'b', 'c']
const finalizer = 'example.com/keep'

/** The states of an object, oldest first, and the oldest state that a read may still return. */
class History {
  readonly states: string[] = ['absent']
  #floor = 0

  /** Records the state after a write. An own write must be visible from now on. */
  wrote(state: string, isOwn: boolean): void {
    if (state !== this.states.at(-1)) this.states.push(state)
    if (isOwn) this.#floor = this.states.length - 1
  }

  /** Checks that a read is no older than the last own write and the last read. */
  read(state: string): void {
    const index = this.states.indexOf(state, this.#floor)
    expect(index, `read ${state} from ${this.#floor} of ${this.states.join(' → ')}`).toBeGreaterThanOrEqual(0)
    this.#floor = index
  }
}

const stateOf = (object: KubeObject | undefined): string =>
  object === undefined ? 'absent' : `${object.metadata.uid.slice(0, 4)}@${object.metadata.resourceVersion}`

/** The result of a write: removing the last finalizer of an object that is being deleted removes it. */
const leaves = (object: KubeObject | undefined): KubeObject | undefined =>
  object?.metadata.deletionTimestamp !== undefined && !object.metadata.finalizers?.length ? undefined : object

const name = fc.constantFrom(...names)
const who = fc.boolean()
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), name, isOwn: who, keep: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('patch' as const), name, isOwn: who }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name, isOwn: who }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), name, isOwn: who }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteCollection' as const), isOwn: who }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('live' as const), name }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  ),
  { minLength: 5, maxLength: 30 },
)

// Another client creates and deletes an object before a collection is deleted; the watch delivers it afterwards.
const straggler: typeof steps extends fc.Arbitrary<infer Plan> ? Plan : never = [
  { do: 'create', name: 'a', isOwn: false, keep: false },
  { do: 'delete', name: 'a', isOwn: false },
  { do: 'create', name: 'b', isOwn: false, keep: false },
  { do: 'deleteCollection', isOwn: true },
  { do: 'deliver', count: 1 },
]

let runs = 0

test.each([
  ['one namespace', (_: string): string => 'x'],
  ['several namespaces', (of: string): string => of],
])(
  'own writes in %s are visible at once, reads never go back, and everything converges',
  async (_, spread) => {
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const run = ++runs
        const namespaceOf = (of: string): string => `run-${run}-${spread(of)}`
        const key = (of: string): Key => ({ name: of, namespace: namespaceOf(of) })
        const namespaces = [...new Set(names.map(namespaceOf))]
        const namespace = namespaceOf('a')
        const api = server.api({ namespace, kinds: [ConfigMap, Namespace] })
        for (const each of namespaces) await api.create(Namespace({ metadata: { name: each } }))
        const clock = new VirtualClock()
        const watches = new HeldWatches(api)
        const parts = { clock, log: nullLogger, namespaces }
        const cache = createObjectCache({ ...parts, client: watches.source, random: seededRandom(1) })
        const client = createCachedClient({ ...parts, api, cache })
        const lease = cache.use(ConfigMap)
        cache.start()
        await lease.synced()
        watches.hold()
        const histories = new Map(names.map((each) => [each, new History()]))
        const history = (of: string): History => histories.get(of)!
        let value = 0

        for (const step of plan) {
          const writer = 'isOwn' in step && step.isOwn ? client : api
          const isOwn = writer === client
          try {
            if (step.do === 'create') {
              const metadata = {
                name: step.name,
                namespace: namespaceOf(step.name),
                ...(step.keep ? { finalizers: [finalizer] } : {}),
              }
              const made = await writer.create(ConfigMap({ metadata, data: { value: String(++value) } }))
              history(step.name).wrote(stateOf(made), isOwn)
            } else if (step.do === 'patch') {
              const patched = await writer.patch(ConfigMap, key(step.name), { data: { value: String(++value) } })
              history(step.name).wrote(stateOf(leaves(patched)), isOwn)
            } else if (step.do === 'release') {
              const patched = await writer.patch(ConfigMap, key(step.name), { metadata: { finalizers: null } })
              history(step.name).wrote(stateOf(leaves(patched)), isOwn)
            } else if (step.do === 'delete') {
              const left = leaves(await writer.delete(ConfigMap, key(step.name)))
              history(step.name).wrote(stateOf(left), isOwn)
            } else if (step.do === 'deleteCollection') {
              await writer.deleteCollection(ConfigMap)
              for (const each of names.filter((other) => namespaceOf(other) === namespace)) {
                history(each).wrote(stateOf(await api.find(ConfigMap, each)), isOwn)
              }
            } else if (step.do === 'live') {
              const live = await client.find(ConfigMap, key(step.name), { consistency: 'live' })
              expect(stateOf(live)).toBe(history(step.name).states.at(-1))
              if (live !== undefined) history(step.name).read(stateOf(live))
            } else await watches.release(step.count)
          } catch (error) {
            if (!isNotFound(error) && !String(error).includes('already exists')) throw error
          }
          for (const each of names) history(each).read(stateOf(await client.find(ConfigMap, key(each))))
          const listed = new Map((await client.list(ConfigMap)).map((object) => [object.metadata.name, object]))
          for (const each of names) history(each).read(stateOf(listed.get(each)))
        }

        // Once the watch has caught up, the store, the client and the server agree, and the overlay is empty.
        const unseen = new Set<string>()
        for (const each of namespaces) {
          unseen.add((await api.create(ConfigMap({ metadata: { name: 'last', namespace: each } }))).metadata.uid)
        }
        const seen = new Promise<void>((resolve) => {
          lease.addHandler({
            onAdd: ({ metadata }) => void (unseen.delete(metadata.uid) && unseen.size === 0 && resolve()),
          })
        })
        await watches.open()
        await seen
        const lists = await Promise.all(namespaces.map((each) => api.list(ConfigMap, { namespace: each })))
        const truth = lists.flat().map(stateOf)
        expect(lease.store.list().map(stateOf)).toEqual(truth)
        expect((await client.list(ConfigMap)).map(stateOf)).toEqual(truth)
        await clock.advance(310_000)
        expect(client.overlaySize).toBe(0)
        client[Symbol.dispose]()
        await cache[Symbol.asyncDispose]()
      }),
      { numRuns: 40, examples: [[straggler]] },
    )
  },
  60_000,
)
