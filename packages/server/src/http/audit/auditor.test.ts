import { describe, expect, test } from 'vitest'
import { type ParsedAuditPolicy, parseAuditPolicy } from '../../config/audit-policy.ts'
import { AccessFixture } from '../../testdata/access-fixture.ts'
import { PlainServer } from '../../testdata/plain-server.ts'
import { Auditor, metadataPolicy } from './auditor.ts'

const configmaps = '/api/v1/namespaces/a/configmaps'
const timestamp = '2026-01-02T03:04:05.000000Z'

function policyOf(...rules: object[]): ParsedAuditPolicy['policy'] {
  return parseAuditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }).policy
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
type Event = any

/** Sends requests to a server with an audit log and returns the events. */
async function audited(
  policy: ParsedAuditPolicy['policy'],
  requests: (server: PlainServer) => Promise<unknown>,
): Promise<Event[]> {
  const lines: string[] = []
  await using server = await PlainServer.start([], async ({ clock }) => ({
    auditor: new Auditor({ policy, sink: (line) => lines.push(line), clock }),
  }))
  await requests(server)
  return lines.map((line) => JSON.parse(line))
}

describe('Auditor', () => {
  test('writes requests that are refused because of their path or timeout', async () => {
    const events = await audited(metadataPolicy, async (server) => {
      await server.send('GET /api/v1/pods/%zz')
      await server.send('GET /api/v1/namespaces/a/secrets/s?timeout=never')
    })
    expect(events).toHaveLength(2)
    expect(events[0]).toMatchObject({ requestURI: '/api/v1/pods/%zz', verb: 'get', responseStatus: { code: 400 } })
    expect(events[1]).toMatchObject({ verb: 'get', objectRef: { name: 's' }, responseStatus: { code: 400 } })
  })

  test('writes user, verb, object and outcome at level Metadata, but no bodies', async () => {
    const events = await audited(metadataPolicy, async (server) => {
      await server.send('POST /api/v1/namespaces/a/secrets?fieldManager=me', {
        body: { metadata: { name: 's' }, stringData: { password: 'hunter2' } },
        headers: { 'audit-id': 'mine' },
      })
      await server.send('DELETE /api/v1/namespaces/a/secrets/nosuch')
      await server.send('GET /healthz')
    })
    expect(JSON.stringify(events)).not.toContain('hunter2')
    expect(events[0]).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'mine',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/a/secrets?fieldManager=me',
      verb: 'create',
      user: { username: 'root', groups: ['system:masters'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'test',
      objectRef: { resource: 'secrets', namespace: 'a', name: 's', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: timestamp,
      stageTimestamp: timestamp,
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    })
    expect(events[1]).toMatchObject({
      verb: 'delete',
      objectRef: { name: 'nosuch' },
      responseStatus: {
        status: 'Failure',
        reason: 'NotFound',
        code: 404,
        message: 'secrets "nosuch" not found',
        details: { name: 'nosuch', kind: 'secrets' },
      },
    })
    expect(events[2]).toMatchObject({ verb: 'get', requestURI: '/healthz', responseStatus: { code: 404 } })
    expect(events[2]).not.toHaveProperty('objectRef')
    expect(events).toHaveLength(3)
  })

  test('writes the decoded object, the patch and the delete options at level Request', async () => {
    const events = await audited(policyOf({ level: 'Request' }), async (server) => {
      await server.send('POST /api/v1/namespaces/a/services', {
        body: { metadata: { name: 's' }, spec: { ports: [] } },
      })
      await server.send(`PATCH /api/v1/namespaces/a/services/s`, {
        body: '{"metadata":{"labels":{"a":"<b>"}}}',
        headers: { 'content-type': 'application/merge-patch+json' },
      })
      await server.send('DELETE /api/v1/namespaces/a/services/s', {
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
      })
    })
    expect(events.map(({ stage }) => stage)).toEqual([
      'RequestReceived',
      'ResponseComplete',
      'RequestReceived',
      'ResponseComplete',
      'RequestReceived',
      'ResponseComplete',
    ])
    expect(events[0]).not.toHaveProperty('requestObject')
    expect(events[0]).not.toHaveProperty('annotations')
    expect(events[1].requestObject).toMatchObject({ kind: 'Service', apiVersion: 'v1', metadata: { name: 's' } })
    expect(events[3].requestObject).toEqual({ metadata: { labels: { a: '<b>' } } })
    expect(events[5].requestObject).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/__internal',
      propagationPolicy: 'Background',
    })
    for (const event of events) expect(event).not.toHaveProperty('responseObject')
  })

  test('writes responses at level RequestResponse, without managed fields if the policy omits them', async () => {
    const policy = policyOf({ level: 'RequestResponse', omitManagedFields: true, omitStages: ['RequestReceived'] })
    const events = await audited(policy, async (server) => {
      await server.send(`POST ${configmaps}`, { body: { metadata: { name: 'm' }, data: { k: 'v' } } })
      await server.send(`GET ${configmaps}/m`, { headers: { accept: 'application/vnd.kubernetes.protobuf' } })
      await server.send(`GET ${configmaps}`, { headers: { accept: 'application/yaml' } })
      await server.send(`GET ${configmaps}/none`)
      await server.send(`DELETE ${configmaps}/m`)
    })
    const [created, read, listed, missing, deleted] = events
    for (const event of [created, read]) {
      expect(event.responseObject).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'm' }, data: { k: 'v' } })
      expect(event.responseObject.metadata).not.toHaveProperty('managedFields')
    }
    expect(listed.responseObject).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'm' } }] })
    expect(listed.responseObject.items[0].metadata).not.toHaveProperty('managedFields')
    expect(missing.responseObject).toMatchObject({ kind: 'Status', reason: 'NotFound' })
    expect(deleted.responseStatus).toEqual({
      metadata: {},
      status: 'Success',
      details: { name: 'm', kind: 'configmaps', uid: expect.any(String) },
      code: 200,
    })
  })

  test('writes ResponseStarted when a watch begins, and ResponseComplete when it ends', async () => {
    const events = await audited(policyOf({ level: 'Metadata' }), async (server) => {
      const watch = await server.watch(`${configmaps}?watch=1`)
      watch.stop()
      await watch.done
    })
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
    expect(events[1]).toMatchObject({ verb: 'watch', responseStatus: { metadata: {}, code: 200 } })
  })

  test('writes nothing for requests of level None', async () => {
    expect(await audited(policyOf({ level: 'None' }), (server) => server.send(`GET ${configmaps}`))).toEqual([])
  })

  test('writes failed authentication, impersonation and the reason of authorization', async () => {
    const lines: string[] = []
    await using server = await AccessFixture.start({}, ({ clock }) => ({
      auditor: new Auditor({ policy: policyOf({ level: 'Metadata' }), sink: (line) => lines.push(line), clock }),
    }))
    await server.send('GET /api/v1/pods', { token: 'wrong' })
    await server.send('GET /api/v1/pods', { as: 'jane', groups: ['dev'] })
    await server.send('GET /version', { peer: { address: '127.0.0.1' } })
    const events: Event[] = lines.map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { metadata: {}, status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
    })
    expect(events[2]).toMatchObject({
      user: { username: 'root' },
      impersonatedUser: { username: 'jane', groups: ['dev', 'system:authenticated'] },
      responseStatus: { reason: 'Forbidden', code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' },
    })
    expect(events[4].annotations['authorization.k8s.io/reason']).toBe(
      'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"',
    )
  })
})
