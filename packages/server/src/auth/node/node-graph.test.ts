import { expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'
import { NodeGraph, type RelatedResource } from './node-graph.ts'

const container = { name: 'c', image: 'i' }
const pod = (name: string, nodeName: string, spec: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], nodeName, ...spec },
})

test('NodeGraph.relates() follows pods that are created, changed and deleted', async () => {
  await using server = await PlainServer.start()
  const { registry } = server.server.parts
  const graph = await NodeGraph.open(registry.feed)
  const send = async (line: string, body?: object): Promise<void> => {
    const answer = await server.send(line, body ? { body } : {})
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    await registry.feed.reached(await registry.store.revision())
  }
  const relates = (node: string, resource: RelatedResource, name: string): boolean =>
    graph.relates(node, resource, 'default', name)
  const pods = '/api/v1/namespaces/default/pods'
  const secret = { imagePullSecrets: [{ name: 's' }] }

  await send(`POST ${pods}`, pod('a', 'one', secret))
  await send(`POST ${pods}`, pod('b', 'one', secret))
  await send(`POST ${pods}`, pod('c', 'two', { ...secret, serviceAccountName: 'sa' }))
  expect([relates('one', 'secrets', 's'), relates('two', 'secrets', 's')]).toEqual([true, true])
  expect([relates('one', 'serviceaccounts', 'sa'), relates('two', 'serviceaccounts', 'sa')]).toEqual([false, true])
  expect([relates('one', 'pods', 'a'), relates('two', 'pods', 'a'), relates('one', 'pods', 'x')]).toEqual([
    true,
    false,
    false,
  ])

  // The second pod still refers to the secret.
  await send(`DELETE ${pods}/a?gracePeriodSeconds=0`)
  expect(relates('one', 'secrets', 's')).toBe(true)
  await send(`DELETE ${pods}/b?gracePeriodSeconds=0`)
  expect(relates('one', 'secrets', 's')).toBe(false)

  await send(`POST ${pods}`, pod('mirror', 'one', secret, { annotations: { 'kubernetes.io/config.mirror': 'x' } }))
  expect([relates('one', 'pods', 'mirror'), relates('one', 'secrets', 's')]).toEqual([true, false])
})

test('NodeGraph.relates() leads from a secret through volume and claim to the node', async () => {
  await using server = await PlainServer.start()
  const { registry } = server.server.parts
  const graph = await NodeGraph.open(registry.feed)
  const send = async (line: string, body?: object): Promise<void> => {
    expect((await server.send(line, body ? { body } : {})).status).toBeLessThan(300)
    await registry.feed.reached(await registry.store.revision())
  }
  await send('POST /api/v1/persistentvolumes', {
    metadata: { name: 'pv' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name: 'claim' },
      iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:s', lun: 0, secretRef: { name: 'chap' } },
    },
  })
  expect(graph.relates('one', 'persistentvolumes', '', 'pv')).toBe(false)
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }]
  await send('POST /api/v1/namespaces/default/pods', pod('a', 'one', { volumes }))
  // A secret without a namespace is in that of the claim.
  expect(graph.relates('one', 'secrets', 'default', 'chap')).toBe(true)
  expect(graph.relates('one', 'persistentvolumes', '', 'pv')).toBe(true)
  expect(graph.relates('two', 'persistentvolumes', '', 'pv')).toBe(false)
  await send('DELETE /api/v1/persistentvolumes/pv')
  expect(graph.relates('one', 'secrets', 'default', 'chap')).toBe(false)
})
