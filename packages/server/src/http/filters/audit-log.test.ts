import { expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'
import { auditLog, jsonLinesAudit } from './audit-log.ts'

test('auditLog() writes user, verb, object and outcome, but no bodies', async () => {
  const lines: string[] = []
  await using server = await PlainServer.start([], async (parts) => ({
    filters: [
      auditLog(
        jsonLinesAudit((line) => lines.push(line)),
        parts.clock,
      ),
    ],
  }))
  const created = await server.send('POST /api/v1/namespaces/a/secrets?fieldManager=me', {
    body: { metadata: { name: 's' }, stringData: { password: 'hunter2' } },
  })
  await server.send('DELETE /api/v1/namespaces/a/secrets/nosuch')
  await server.send('GET /healthz')
  expect(lines.join('')).not.toContain('hunter2')
  const events = lines.map((line) => JSON.parse(line))
  expect(events[0]).toEqual({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: created.headers['audit-id'],
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/a/secrets?fieldManager=me',
    verb: 'create',
    user: { username: 'root', groups: ['system:masters'] },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'test',
    objectRef: { resource: 'secrets', namespace: 'a', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestReceivedTimestamp: '2026-01-02T03:04:05.000000Z',
    stageTimestamp: '2026-01-02T03:04:05.000000Z',
  })
  expect(events[1]).toMatchObject({
    verb: 'delete',
    objectRef: { name: 'nosuch' },
    responseStatus: { status: 'Failure', reason: 'NotFound', code: 404, message: 'secrets "nosuch" not found' },
  })
  expect(events[2]).toMatchObject({ verb: 'get', requestURI: '/healthz', responseStatus: { code: 404 } })
  expect(events[2]).not.toHaveProperty('objectRef')
})
