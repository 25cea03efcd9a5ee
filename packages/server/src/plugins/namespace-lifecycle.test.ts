import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AdmissionServer } from '../testdata/admission-server.ts'

let server: AdmissionServer
beforeAll(async () => {
  server = await AdmissionServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

describe('namespaceLifecycle()', () => {
  test('rejects objects in a missing namespace', async () => {
    expect(await server.create('/api/v1/namespaces/nowhere/configmaps', 'a')).toBe('namespaces "nowhere" not found')
    const patch = await server.send(
      'PATCH',
      '/api/v1/namespaces/nowhere/configmaps/a?fieldManager=x',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      'application/apply-patch+yaml',
    )
    expect(patch).toBe('namespaces "nowhere" not found')
  })

  test('rejects new objects in a terminating namespace with a cause', async () => {
    await server.create('/api/v1/namespaces', 'leaving')
    const path = '/api/v1/namespaces/leaving'
    await server.send('PATCH', `${path}/status`, { status: { phase: 'Terminating' } }, 'application/merge-patch+json')
    const { body } = await server.plain.send(`POST ${path}/configmaps`, { body: { metadata: { generateName: 'a-' } } })
    expect(body).toMatchObject({
      code: 403,
      message:
        'configmaps "a-" is forbidden: unable to create new content in namespace leaving because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace leaving is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    })
  })

  test('allows updates and deletes in a terminating namespace', async () => {
    const path = await server.namespace('closing')
    await server.create(`${path}/configmaps`, 'a')
    await server.send('PATCH', `${path}/status`, { status: { phase: 'Terminating' } }, 'application/merge-patch+json')
    const changed = await server.send(
      'PATCH',
      `${path}/configmaps/a`,
      { data: { x: 'y' } },
      'application/merge-patch+json',
    )
    expect(changed.data).toEqual({ x: 'y' })
    expect((await server.send('DELETE', `${path}/configmaps/a`)).status).toBe('Success')
  })

  test.each(['default', 'kube-system', 'kube-public'])('rejects the deletion of %s', async (name) => {
    await server.create('/api/v1/namespaces', name)
    expect(await server.send('DELETE', `/api/v1/namespaces/${name}`)).toBe(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    )
  })

  test('does not reveal missing namespaces to access reviews', async () => {
    const body = {
      metadata: { namespace: 'nowhere' },
      spec: { user: 'a', resourceAttributes: { namespace: 'nowhere' } },
    }
    const path = '/apis/authorization.k8s.io/v1/namespaces/nowhere/localsubjectaccessreviews'
    expect(await server.send('POST', path, body)).not.toMatch(/not found/)
  })
})
