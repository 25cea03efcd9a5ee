import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AdmissionServer } from '../../testdata/admission-server.ts'

let server: AdmissionServer
beforeAll(async () => {
  server = await AdmissionServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const enforce = (level: string): Record<string, string> => ({ 'pod-security.kubernetes.io/enforce': level })
const template = { spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] } }
const merge = 'application/merge-patch+json'

describe('podSecurity()', () => {
  test('rejects pods that violate the enforced level', async () => {
    const path = await server.namespace('strict', enforce('baseline'))
    expect(await server.create(`${path}/pods`, 'p', template)).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    )
  })

  test('warns about templates and rejects none', async () => {
    const path = '/apis/apps/v1/namespaces/strict/deployments'
    const answer = await server.plain.send(`POST ${path}`, { body: { metadata: { name: 'd' }, spec: { template } } })
    expect(answer.status).toBe(201)
    expect(answer.headers['warning']).toEqual([
      '299 - "would violate PodSecurity \\"baseline:latest\\": host namespaces (hostNetwork=true)"',
    ])
  })

  test('lists violating pods when the level of a namespace becomes stricter', async () => {
    const path = await server.namespace('loose')
    for (const name of ['b', 'a', 'z']) await server.create(`${path}/pods`, name, template)
    const labels = { metadata: { labels: enforce('baseline') } }
    const answer = await server.plain.send(`PATCH ${path}`, { body: labels, headers: { 'content-type': merge } })
    expect(answer.headers['warning']).toEqual([
      '299 - "existing pods in namespace \\"loose\\" violate the new PodSecurity enforce level \\"baseline:latest\\""',
      '299 - "a (and 2 other pods): host namespaces"',
    ])
  })

  test('checks updates of a pod only when its images change', async () => {
    const pod = '/api/v1/namespaces/loose/pods/a'
    const labels = { metadata: { labels: { x: 'y' } } }
    expect((await server.send('PATCH', pod, labels, merge)).metadata.labels).toEqual({ x: 'y' })
    const image = { spec: { containers: [{ name: 'c', image: 'other' }] } }
    expect(await server.send('PATCH', pod, image, merge)).toMatch(/violates PodSecurity "baseline:latest"/)
  })

  test('rejects invalid labels', async () => {
    expect(await server.send('POST', '/api/v1/namespaces', { metadata: { name: 'n', labels: enforce('high') } })).toBe(
      'Namespace "n" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "high": must be one of privileged, baseline, restricted',
    )
  })
})
