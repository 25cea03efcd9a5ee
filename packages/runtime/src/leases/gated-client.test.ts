import { VirtualClock } from '@kubewright/base'
import { type ApiClient, type Client, createClient, type Transport } from '@kubewright/client'
import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { gatedClient } from './gated-client.ts'
import { NotLeaderError } from './not-leader-error.ts'

const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } as const

const writes: Readonly<Record<string, (client: ApiClient) => Promise<unknown>>> = {
  create: (client) => client.create(config),
  update: (client) => client.update(config),
  patch: (client) => client.patch(ConfigMap, 'a', { data: {} }),
  'apply of an object': (client) => client.apply(config),
  'apply of a part': (client) => client.apply(ConfigMap, { metadata: { name: 'a' } }, { force: true }),
  delete: (client) => client.delete(ConfigMap, 'a'),
  requestDeletion: (client) => client.requestDeletion(ConfigMap, 'a'),
  deleteCollection: (client) => client.deleteCollection(ConfigMap),
  requestCollectionDeletion: (client) => client.requestCollectionDeletion(ConfigMap),
  'create of a subresource': (client) => client.subresource(ConfigMap, 'x').create('a', {} as never),
  'update of a subresource': (client) => client.subresource(ConfigMap, 'x').update(config as never),
  'patch of a subresource': (client) => client.subresource(ConfigMap, 'x').patch('a', {}),
  'apply of a subresource': (client) => client.subresource(ConfigMap, 'x').apply('a', {}),
  exec: (client) => client.exec('a', { command: ['ls'] }),
  attach: (client) => client.attach('a'),
  portForward: (client) => client.portForward('a', 80),
}

/** A client of a server that is too busy for any request, and a gate that closes after ten seconds. */
function setUp() {
  const clock = new VirtualClock()
  const sent: string[] = []
  const busy = (path: string) => {
    sent.push(path)
    const bytes = async (): Promise<Uint8Array> => Buffer.from('{}')
    const body = {
      bytes,
      discard: () => undefined,
      async *[Symbol.asyncIterator]() {
        yield await bytes()
      },
    }
    return Promise.resolve({ status: 429, headers: { 'retry-after': ['12'] }, body })
  }
  const transport: Transport = {
    host: 'busy',
    send: ({ path }) => busy(path),
    upgrade: ({ path }) => busy(path),
    [Symbol.asyncDispose]: async () => undefined,
  }
  const gate = {
    assertOpen: () => {
      if (clock.monotonic() >= 10_000) throw new NotLeaderError('closed')
    },
  }
  const client = gatedClient(createClient({ transport, clock, kinds: [ConfigMap] }), gate)
  return { clock, sent, client }
}

describe('gatedClient()', () => {
  test('rejects writes while the gate is closed, and passes reads and other members', async () => {
    const calls: string[] = []
    class Fake {
      readonly #private = 'kept'
      get = async () => calls.push(`get ${this.#private}`)
      create = async () => calls.push(`create ${this.#private}`)
      subresource = () => ({ get: async () => calls.push('status'), apply: async () => calls.push('apply status') })
      rest = 'rest'
    }
    let open = false
    const gate = {
      assertOpen: () => {
        if (!open) throw new NotLeaderError('closed')
      },
    }
    // The test calls only these methods.
    const client = gatedClient(new Fake() as unknown as Client & { rest: string }, gate)
    const kind = undefined as never
    await client.get(kind, 'x')
    await expect(client.create(kind)).rejects.toThrow(NotLeaderError)
    await client.subresource(kind, 'status').get('x')
    await expect(client.subresource(kind, 'status').apply('x', {})).rejects.toThrow(NotLeaderError)
    open = true
    await client.create(kind)
    await client.subresource(kind, 'status').apply('x', {})
    expect(calls).toEqual(['get kept', 'status', 'create kept', 'apply status'])
    expect(client.rest).toBe('rest')
  })

  test.each(Object.keys(writes))('does not send %s after the gate has closed', async (name) => {
    const { clock, sent, client } = setUp()
    await clock.advance('10s')
    await expect(writes[name]?.(client)).rejects.toThrow(NotLeaderError)
    expect(sent).toEqual([])
  })

  // Requests that open a message connection are never retried.
  const repeated = Object.keys(writes).filter((name) => !['exec', 'attach', 'portForward'].includes(name))
  test.each(repeated)('does not retry %s when the gate closes while it waits for a busy server', async (name) => {
    const { clock, sent, client } = setUp()
    const refused = expect(writes[name]?.(client)).rejects.toThrow(NotLeaderError)
    await clock.advance('9s')
    expect(sent).toHaveLength(1)
    await clock.advance('1m')
    await refused
    expect(sent).toHaveLength(1)
  })

  test('also calls the beforeSend of the caller', async () => {
    const { sent, client } = setUp()
    const beforeSend = (): void => {
      throw new Error('not now')
    }
    await expect(client.create(config, { beforeSend })).rejects.toThrow('not now')
    expect(sent).toEqual([])
  })
})
