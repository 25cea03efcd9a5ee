import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from '../../../assemble-server.ts'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { componentStatuses } from './component-status.ts'

describe('component statuses', () => {
  let server: AssembledServer
  beforeAll(async () => {
    server = await assembleServer({
      store: new MemoryStore(),
      access: { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] },
      components: (name) => async () => {
        if (name === 'scheduler') throw new Error('it is down')
        return 'ok'
      },
    })
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const get = async (path: string, accept = 'application/json'): Promise<unknown> => {
    const url = new URL(path, 'https://server')
    const response = await server.handler({
      method: 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: { authorization: 'Bearer root', accept },
      body: async () => new Uint8Array(),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
    return JSON.parse(Buffer.from(response.body as Uint8Array).toString())
  }
  const statusOf = (name: string, status: string, message: string) => ({
    metadata: { name },
    conditions: [{ type: 'Healthy', status, message }],
  })
  const all = [
    statusOf('controller-manager', 'True', 'ok'),
    statusOf('scheduler', 'False', 'it is down'),
    statusOf('etcd-0', 'True', 'ok'),
  ]

  test('list the components of the control plane', async () => {
    const list = { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {} }
    expect(await get('/api/v1/componentstatuses')).toEqual({ ...list, items: all })
    expect(await get('/api/v1/componentstatuses?labelSelector=a%3Db')).toEqual({ ...list, items: [] })
    expect(await get('/api/v1/componentstatuses?fieldSelector=metadata.name%3Dscheduler')).toEqual({
      ...list,
      items: [all[1]],
    })
  })

  test('are found by name', async () => {
    expect(await get('/api/v1/componentstatuses/etcd-0')).toEqual({
      kind: 'ComponentStatus',
      apiVersion: 'v1',
      ...all[2],
    })
    expect(await get('/api/v1/componentstatuses/nope')).toMatchObject({
      code: 404,
      message: 'componentstatus "nope" not found',
      details: { name: 'nope', kind: 'componentstatus' },
    })
  })

  test('convert to Tables and metadata', async () => {
    const table = await get('/api/v1/componentstatuses', 'application/json;as=Table;v=v1;g=meta.k8s.io')
    expect(table).toMatchObject({
      kind: 'Table',
      rows: [
        { cells: ['controller-manager', 'Healthy', 'ok', ''] },
        { cells: ['scheduler', 'Unhealthy', 'it is down', ''] },
        {},
      ],
    })
    const metadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
    expect(await get('/api/v1/componentstatuses/scheduler', metadata)).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata: { name: 'scheduler' },
    })
  })

  test('list the result of the health check in table columns', () => {
    expect(
      cellsOf(componentStatuses, { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] }),
    ).toEqual(['x', 'Unhealthy', 'm', 'e'])
  })
})
