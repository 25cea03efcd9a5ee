import { type AnyKind, type Client, type Infer, isInvalid, isNotFound } from 'kubewright'
import type { ApiClient } from 'kubewright/client'
import { Deployment } from 'kubewright/k8s'
import { systemClock as clock, controllerRef, type EventNote, memoryLogger } from 'kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { openCluster } from '../../open-cluster.ts'
import { Foo, installFoo } from './foo.ts'
import { FooController } from './foo-controller.ts'

async function setUp() {
  const warnings: string[] = []
  const cluster = await openCluster({ args: [], controllers: [], onWarning: (text) => warnings.push(text) })
  const { client } = cluster
  await installFoo(client)
  const actions: string[] = []
  const events: string[] = []
  const log = memoryLogger()
  const controller = new FooController({
    client: recording(client, actions),
    source: client,
    events: {
      record: (_, { type, reason, message }: EventNote) => void events.push(`${type} ${reason} ${message}`),
    },
    log,
    clock,
  })
  return { cluster, client, controller, actions, events, log, warnings }
}

/** A client that records its writes. */
function recording(client: ApiClient, actions: string[]): ConstructorParameters<typeof FooController>[0]['client'] {
  const note = (verb: string, kind: string, name = ''): void => void actions.push(`${verb} ${kind} ${name}`)
  type Written = { readonly kind: string; readonly metadata?: { readonly name?: string } }
  const write =
    (verb: 'create' | 'update'): Client[typeof verb] =>
    (object, options) => {
      const { kind, metadata } = object as Written
      note(verb, kind, metadata?.name)
      return client[verb](object, options)
    }
  return {
    create: write('create'),
    update: write('update'),
    delete: (kind, key, options) => {
      note('delete', kind.kind, String(key))
      return client.delete(kind, key, options)
    },
    subresource: (kind, name) => {
      const subresource = client.subresource(kind, name)
      return {
        ...subresource,
        update: (body, options) => {
          note('update', `${kind.kind}/${name}`, (body as unknown as Written).metadata?.name)
          return subresource.update(body, options)
        },
      }
    },
  }
}

const foo = (replicas = 1, deploymentName: string | undefined = 'test-deployment') =>
  Foo({ metadata: { name: 'test' }, spec: { replicas, ...(deploymentName === undefined ? {} : { deploymentName }) } })

const deployment = (replicas: number, owner?: Foo) => {
  const labels = { app: 'nginx', controller: 'test' }
  return Deployment({
    metadata: { name: 'test-deployment', ...(owner === undefined ? {} : { ownerReferences: [controllerRef(owner)] }) },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  })
}

/** Resolves with the first accepted state of an object; undefined means absent. */
async function until<K extends AnyKind>(
  client: Client,
  kind: K,
  name: string,
  accept: (object: Infer<K> | undefined) => boolean,
): Promise<Infer<K> | undefined> {
  let last: Infer<K> | undefined
  const options = { fields: { 'metadata.name': name }, sendInitialEvents: true }
  for await (const event of await client.watch(kind, options)) {
    if (event.type === 'DELETED') last = undefined
    else if (event.type !== 'BOOKMARK') last = event.object
    if (accept(last)) return last
  }
  throw new Error(`The watch of ${kind.kind} ${name} ended`)
}

describe('FooController.sync()', () => {
  test('creates the deployment', async () => {
    const { cluster, client, controller, actions, events } = await setUp()
    await using _ = cluster
    await client.create(foo())
    await controller.start()
    await controller.sync('default/test')
    expect(actions).toEqual(['create Deployment test-deployment', 'update Foo/status test'])
    expect(await client.get(Deployment, 'test-deployment')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Foo', name: 'test', controller: true }] },
      spec: { replicas: 1, selector: { matchLabels: { app: 'nginx', controller: 'test' } } },
    })
    expect((await client.get(Foo, 'test')).status).toEqual({ availableReplicas: 0 })
    expect(events).toEqual(['Normal Synced Foo synced successfully'])
    await controller[Symbol.asyncDispose]()
  })

  test('only records an event when nothing needs to change', async () => {
    const { cluster, client, controller, actions } = await setUp()
    await using _ = cluster
    await client.create(deployment(1, await client.create(foo())))
    await controller.start()
    await controller.sync('default/test')
    expect(actions).toEqual(['update Foo/status test'])
    await controller[Symbol.asyncDispose]()
  })

  test('updates the deployment', async () => {
    const { cluster, client, controller, actions } = await setUp()
    await using _ = cluster
    await client.create(deployment(1, await client.create(foo(2))))
    await controller.start()
    await controller.sync('default/test')
    expect(actions).toEqual(['update Deployment test-deployment', 'update Foo/status test'])
    expect((await client.get(Deployment, 'test-deployment')).spec?.replicas).toBe(2)
    await controller[Symbol.asyncDispose]()
  })

  test('fails when it does not own the deployment', async () => {
    const { cluster, client, controller, actions, events } = await setUp()
    await using _ = cluster
    await client.create(foo())
    await client.create(deployment(1))
    await controller.start()
    const message = 'Resource "test-deployment" already exists and is not managed by Foo'
    await expect(controller.sync('default/test')).rejects.toThrow(message)
    expect([actions, events]).toEqual([[], [`Warning ErrResourceExists ${message}`]])
    await controller[Symbol.asyncDispose]()
  })

  test('ignores Foos that are deleted or have no deploymentName', async () => {
    const { cluster, client, controller, actions, log } = await setUp()
    await using _ = cluster
    await client.create(foo(1, ''))
    await controller.start()
    await controller.sync('default/test')
    await controller.sync('default/gone')
    expect(actions).toEqual([])
    expect(log.records.slice(-2).map(({ message }) => message)).toEqual([
      'Deployment name missing from object reference',
      'Foo referenced by item in work queue no longer exists',
    ])
    await controller[Symbol.asyncDispose]()
  })
})

describe('FooController.run()', () => {
  test('creates, scales, renames and repairs deployments', async () => {
    const { cluster, client, controller, events } = await setUp()
    await using _ = cluster
    const stop = new AbortController()
    const running = controller.run(2, stop.signal)
    const hasReplicas = (count: number) => (found: Deployment | undefined) => found?.spec?.replicas === count

    await client.create(foo(1))
    const first = await until(client, Deployment, 'test-deployment', hasReplicas(1))
    await client.patch(Foo, 'test', { spec: { replicas: 2 } })
    await until(client, Deployment, 'test-deployment', hasReplicas(2))

    // Scaling and deleting the Deployment are both reverted.
    await client.subresource(Deployment, 'scale').patch('test-deployment', { spec: { replicas: 0 } })
    await until(client, Deployment, 'test-deployment', hasReplicas(2))
    await client.delete(Deployment, 'test-deployment')
    await until(client, Deployment, 'test-deployment', (found) => {
      return found !== undefined && found.metadata.uid !== first?.metadata.uid
    })

    await client.patch(Foo, 'test', { spec: { deploymentName: 'renamed' } })
    await until(client, Deployment, 'renamed', hasReplicas(2))
    await until(client, Deployment, 'test-deployment', (found) => found === undefined)
    await expect(client.get(Deployment, 'test-deployment')).rejects.toSatisfy(isNotFound)
    stop.abort()
    await running
    expect(events).toContain('Normal Deleted Deleted deployment "test-deployment"')
  })
})

describe('Foo', () => {
  test('accepts between one and ten replicas', async () => {
    const { cluster, client } = await setUp()
    await using _ = cluster
    const creating = client.create(foo(11))
    await expect(creating).rejects.toSatisfy(isInvalid)
    await expect(creating).rejects.toThrow('spec.replicas in body should be less than or equal to 10')
  })

  test('ignores the status of a plain update, and the client warns about it', async () => {
    const { cluster, client, warnings } = await setUp()
    await using _ = cluster
    const created = await client.create(foo())
    await client.update({ ...created, status: { availableReplicas: 3 } })
    const read = await client.get(Foo, 'test')
    expect([read.status, read.metadata.generation]).toEqual([undefined, 1])
    expect(warnings).toEqual([
      "the status of Foo.samplecontroller.k8s.io was ignored by this write: use subresource(Foo, 'status') to write it",
    ])
  })
})
