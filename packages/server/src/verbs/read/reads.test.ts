import { drainMicrotasks } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'

let server: PlainServer
beforeEach(async () => {
  server = await PlainServer.start()
})
afterEach(() => server[Symbol.asyncDispose]())

const maps = '/api/v1/namespaces/a/configmaps'
const merge = { 'content-type': 'application/merge-patch+json' }

async function create(name: string, labels: Record<string, string> = {}): Promise<string> {
  const answer = await server.send(`POST ${maps}`, { body: { metadata: { name, labels } } })
  return answer.body.metadata.resourceVersion
}

const namesOf = (list: { items: { metadata: { name: string } }[] }): string[] => list.items.map((i) => i.metadata.name)

describe('list', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name, { odd: String(name.charCodeAt(0) % 2) })
  })

  test('serves all pages at the version of the first, whatever is written meanwhile', async () => {
    const first = (await server.send(`GET ${maps}?limit=2`)).body
    expect([namesOf(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 3])
    await server.send(`DELETE ${maps}/c`)
    await create('f')
    const second = (await server.send(`GET ${maps}?limit=2&continue=${first.metadata.continue}`)).body
    expect([namesOf(second), second.metadata.resourceVersion]).toEqual([['c', 'd'], first.metadata.resourceVersion])
    const third = (await server.send(`GET ${maps}?limit=2&continue=${second.metadata.continue}`)).body
    expect([namesOf(third), third.metadata.continue]).toEqual([['e'], undefined])
  })

  test('continues with the present objects when the token has a negative version', async () => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start: 'b\u0000' })).toString('base64url')
    await server.send(`DELETE ${maps}/d`)
    expect(namesOf((await server.send(`GET ${maps}?continue=${token}`)).body)).toEqual(['c', 'e'])
  })

  test('includes the number of remaining objects in the response to a DELETE of a collection with a limit', async () => {
    const { metadata, items } = (await server.send(`DELETE ${maps}?limit=2`)).body
    expect([items.length, metadata.remainingItemCount, typeof metadata.continue]).toEqual([2, 3, 'string'])
    expect(namesOf((await server.send(`GET ${maps}`)).body)).toEqual(['c', 'd', 'e'])
  })

  test('fills pages with selected objects and omits remainingItemCount', async () => {
    const first = (await server.send(`GET ${maps}?limit=2&labelSelector=odd%3D1`)).body
    expect([namesOf(first), first.metadata.remainingItemCount]).toEqual([['a', 'c'], undefined])
    const rest = (await server.send(`GET ${maps}?limit=2&labelSelector=odd%3D1&continue=${first.metadata.continue}`))
      .body
    expect(namesOf(rest)).toEqual(['e'])
  })

  test('does not look beyond a full page, and ignores the limit at resourceVersion 0', async () => {
    const first = (await server.send(`GET ${maps}?limit=2&labelSelector=odd%3D0`)).body
    expect([namesOf(first), first.metadata.continue]).toEqual([['b', 'd'], expect.any(String)])
    const rest = (await server.send(`GET ${maps}?limit=2&labelSelector=odd%3D0&continue=${first.metadata.continue}`))
      .body
    expect([rest.items, rest.metadata.continue]).toEqual([[], undefined])
    expect(namesOf((await server.send(`GET ${maps}?limit=2&resourceVersion=0`)).body)).toHaveLength(5)
  })

  test('selects by a name that is compared with names only, not with parts of paths', async () => {
    const found = async (path: string, name: string): Promise<string[]> =>
      namesOf((await server.send(`GET ${path}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`)).body)
    await create('a.b')
    expect(await found(maps, 'b')).toEqual(['b'])
    expect(await found('/api/v1/configmaps', 'a/b')).toEqual([])
    expect(await found(maps, '')).toEqual([])
  })

  test('serves an exact version', async () => {
    const version = await create('f')
    await create('g')
    const exact = (await server.send(`GET ${maps}?resourceVersion=${version}&resourceVersionMatch=Exact`)).body
    expect(namesOf(exact)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  test.each([
    ['continue=W10', 400, 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['continue=x', 400, 'continue key is not valid: illegal base64 data at input byte 0'],
    [
      'resourceVersion=abc',
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    ['labelSelector=%21%21', 400, "unable to parse requirement: found '!', expected: identifier"],
    ['fieldSelector=x%3D1', 400, '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ])('rejects %s', async (query, status, message) => {
    const answer = await server.send(`GET ${maps}?${query}`)
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)])
  })

  test('waits for a version that the cache has not reached', async () => {
    const pending = server.send(`GET ${maps}?resourceVersion=100000`)
    await drainMicrotasks()
    await server.clock.advance('3s')
    const answer = await pending
    expect([answer.status, answer.body.details.causes[0].reason]).toEqual([504, 'ResourceVersionTooLarge'])
    expect(answer.headers['retry-after']).toBe('1')
  })
})

describe('watch', () => {
  const types = (events: { type: string }[]): string[] => events.map(({ type }) => type)

  test('sends the initial objects, then every change once and in order', async () => {
    await create('a')
    const watch = await server.watch(`${maps}?watch=true`)
    await create('b')
    await server.send(`PATCH ${maps}/a`, { headers: merge, body: { data: { k: 'v' } } })
    await server.send(`DELETE ${maps}/b`)
    await drainMicrotasks()
    expect(watch.events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
      ['MODIFIED', 'a'],
      ['DELETED', 'b'],
    ])
    const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    watch.stop()
    await watch.done
  })

  test('turns changes into ADDED and DELETED events when a selector starts or stops to match', async () => {
    const version = await create('a')
    const watch = await server.watch(`${maps}?watch=true&labelSelector=x&resourceVersion=${version}`)
    for (const labels of [{ x: '1' }, { x: '2' }, { x: null }, { y: '1' }]) {
      await server.send(`PATCH ${maps}/a`, { headers: merge, body: { metadata: { labels } } })
    }
    await drainMicrotasks()
    expect(types(watch.events)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    expect(watch.events[2]?.object.metadata.labels).toEqual({ x: '2' })
    watch.stop()
  })

  test('ends after timeoutSeconds, with a last bookmark two seconds before', async () => {
    const watch = await server.watch(`${maps}?watch=true&allowWatchBookmarks=true&timeoutSeconds=70`)
    await server.clock.advance('59s')
    expect(watch.events.splice(0).map(({ object }) => object.metadata.annotations)).toEqual([
      { 'k8s.io/initial-events-end': 'true' },
    ])
    await server.clock.advance('2s')
    expect(types(watch.events)).toEqual(['BOOKMARK'])
    await server.clock.advance('8s')
    expect(types(watch.events)).toEqual(['BOOKMARK', 'BOOKMARK'])
    await server.clock.advance('2s')
    await watch.done
    expect(watch.events[1]?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.any(String) },
    })
  })

  test('marks the end of the initial events with a bookmark', async () => {
    await create('a')
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watch = await server.watch(`${maps}?${query}`)
    await drainMicrotasks()
    expect(types(watch.events)).toEqual(['ADDED', 'BOOKMARK'])
    expect(watch.events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    watch.stop()
  })

  test('rejects initial events of a version from the future', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999'
    const watch = await server.watch(`${maps}?${query}`)
    await server.clock.advance('4s')
    expect(watch.events.map(({ type, object }) => [type, object['code'], object['reason']])).toEqual([
      ['ERROR', 504, 'Timeout'],
    ])
    watch.stop()
  })

  test('selects one object by path or by field selector', async () => {
    await create('a')
    await create('b')
    for (const path of ['/api/v1/watch/namespaces/a/configmaps/b', `${maps}?watch=1&fieldSelector=metadata.name%3Db`]) {
      const watch = await server.watch(path)
      await drainMicrotasks()
      expect(watch.events.map(({ object }) => object.metadata.name)).toEqual(['b'])
      watch.stop()
    }
  })

  // Permissions are checked for the name in the path: a selector must not extend the watch to other names.
  test.each(['metadata.name!=b', 'metadata.name=a', 'metadata.name!=a', 'metadata.namespace=a'])(
    'by a path with a name refuses the selector %s, which does not require that name',
    async (selector) => {
      await create('a')
      await create('b')
      const path = `/api/v1/watch/namespaces/a/configmaps/b?fieldSelector=${encodeURIComponent(selector)}`
      const { status, body } = await server.send(`GET ${path}`)
      expect([status, body.message]).toEqual([400, "fieldSelector metadata.name doesn't match requested name"])
    },
  )

  test.each([
    [
      `${maps}?watch=1&resourceVersion=abc`,
      500,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      `${maps}?watch=1&sendInitialEvents=true`,
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      '/api/v1/watch/namespaces/a/configmaps?sendInitialEvents=true',
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
  ])('rejects %s', async (path, status, message) => {
    const answer = await server.send(`GET ${path}`)
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })
})

describe('get', () => {
  test.each([
    ['none', 404, 'configmaps "none" not found'],
    ['..', 400, 'Name parameter invalid: "..": may not be \'..\''],
    [
      'none?resourceVersion=x',
      500,
      'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
  ])('rejects %s', async (name, status, message) => {
    const answer = await server.send(`GET ${maps}/${name}`)
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })

  test('encodes errors as YAML when the client accepts only YAML', async () => {
    const answer = await server.send(`GET ${maps}/none`, { headers: { accept: 'application/yaml' } })
    expect([answer.headers['content-type'], answer.text]).toEqual([
      'application/yaml',
      expect.stringContaining('message: configmaps "none" not found\n'),
    ])
  })
})

test.each([
  ['GET /apis/apps/v9/deployments', 'the server could not find the requested resource'],
  ['POST /api/v2/pods', 'the server could not find the requested resource'],
  [`GET ${maps.replace('configmaps', 'pods')}/p/binding/x`, 'the server could not find the requested resource'],
  ['GET /api/v1/proxy/nodes/n', 'the server could not find the requested resource'],
  ['POST /api/v1/bindings', 'the server could not find the requested resource'],
  ['GET /apis/nosuch.example.com/v1/foos', undefined],
])('%s: an unknown resource gets the error of its group', async (request, message) => {
  const { status, body } = await server.send(request)
  expect([status, body?.message]).toEqual([404, message])
})
