import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf, strategicMerge } from '../../../testdata/core-client.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const path = '/api/v1/namespaces/a/pods'
const container = { name: 'c', image: 'nginx:1.25' }
const pod = (name: string, spec: object = {}): object => named(name, { spec: { containers: [container], ...spec } })

describe('pods', () => {
  test.each<[string, object, string]>([
    [
      'ephemeral containers on create',
      { spec: { containers: [container], ephemeralContainers: [{ name: 'e', image: 'i' }] } },
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
    [
      'a node name together with scheduling gates',
      { spec: { containers: [container], nodeName: 'n', schedulingGates: [{ name: 'g' }] } },
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
  ])('reject %s', async (_, body, text) => {
    const answer = await client.create(`${path}?dryRun=All`, named('x', body))
    expect(answer.status).toBe(422)
    expect(problemOf(answer)).toBe(text)
  })

  test('start pending, with their QoS class and generation', async () => {
    const { body } = await client.create(path, pod('new', { schedulingGates: [{ name: 'g' }] }))
    expect(body.metadata.generation).toBe(1)
    expect(body.status).toEqual({
      phase: 'Pending',
      qosClass: 'BestEffort',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null,
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
      ],
    })
  })

  test('copy AppArmor annotations to fields', async () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c'
    const metadata = { name: 'armor', annotations: { [key]: 'localhost/x' } }
    const answer = await client.create(`${path}?dryRun=All`, { ...pod('armor'), metadata })
    expect(answer.body.spec.containers[0].securityContext).toEqual({
      appArmorProfile: { type: 'Localhost', localhostProfile: 'x' },
    })
    expect(answer.headers['warning']).toEqual([
      `299 - "metadata.annotations[${key}]: deprecated since v1.30; use the \\"appArmorProfile\\" field instead"`,
    ])
  })

  test('add the values of matchLabelKeys to the selectors of constraints', async () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'k',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: {},
      matchLabelKeys: ['v'],
    }
    const spec = { containers: [container], topologySpreadConstraints: [constraint] }
    const { body } = await client.create(`${path}?dryRun=All`, {
      metadata: { name: 'spread', labels: { v: '1' } },
      spec,
    })
    expect(body.spec.topologySpreadConstraints[0].labelSelector).toEqual({
      matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }],
    })
  })

  test('reject changes of immutable fields and show the difference', async () => {
    await client.create(path, pod('fixed'))
    const answer = await client.patch(`${path}/fixed`, { spec: { hostname: 'h' } })
    expect(problemOf(answer)).toMatch(
      /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    )
    expect(problemOf(answer)).toContain('- "Hostname": "",\n+ "Hostname": "h",\n')
    const image = await client.patch(
      `${path}/fixed`,
      { spec: { containers: [{ name: 'c', image: 'b' }] } },
      strategicMerge,
    )
    expect(image.body.metadata.generation).toBe(2)
  })

  test('are deleted at once without a node, and after the grace period with one', async () => {
    await client.create(path, pod('free'))
    expect((await client.send(`DELETE ${path}/free`)).status).toBe(200)
    expect((await client.send(`GET ${path}/free`)).status).toBe(404)
    await client.create(path, pod('bound', { nodeName: 'n' }))
    const { body } = await client.send(`DELETE ${path}/bound`)
    expect(body.metadata).toMatchObject({ deletionTimestamp: '2026-01-02T03:04:35Z', deletionGracePeriodSeconds: 30 })
    await client.send(`DELETE ${path}/bound?gracePeriodSeconds=0`)
    expect((await client.send(`GET ${path}/bound`)).status).toBe(404)
  })

  test('accept a grace period that is no safe integer', async () => {
    const longest = JSON.stringify(pod('longest', { nodeName: 'n' })).replace(
      '"nodeName"',
      '"terminationGracePeriodSeconds":9223372036854775807,"nodeName"',
    )
    expect((await client.send(`POST ${path}`, { body: Buffer.from(longest) })).status).toBe(201)
    const { status, body } = await client.send(`DELETE ${path}/longest`)
    // Like in Go, the period wraps around to minus one second.
    expect([status, body.metadata.deletionTimestamp]).toEqual([200, '2026-01-02T03:04:04Z'])
    expect((await client.send(`DELETE ${path}/longest?gracePeriodSeconds=0`)).status).toBe(200)
    expect((await client.send(`GET ${path}/longest`)).status).toBe(404)
  })

  test('keep podIP equal to the first of podIPs', async () => {
    await client.create(path, pod('address'))
    const set = (status: object) => client.patch(`${path}/address/status`, { status })
    expect((await set({ podIP: '10.0.0.1' })).body.status).toMatchObject({ podIPs: [{ ip: '10.0.0.1' }] })
    expect((await set({ podIP: null, podIPs: [{ ip: '10.0.0.2' }] })).body.status).toMatchObject({ podIP: '10.0.0.2' })
    expect((await set({ podIP: '10.0.0.3' })).body.status).toMatchObject({ podIPs: [{ ip: '10.0.0.3' }] })
    expect(problemOf(await set({ podIP: 'x' }))).toMatch(
      /^status\.podIPs\[0\]: Invalid value: "x": must be a valid IP address/,
    )
  })

  test('can be bound once', async () => {
    await client.create(path, pod('bind'))
    const binding = named('bind', { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n1' } })
    expect((await client.create(`${path}/bind/binding`, binding)).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    })
    expect((await client.send(`GET ${path}/bind`)).body.spec.nodeName).toBe('n1')
    expect((await client.create(`${path}/bind/binding`, binding)).body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "bind": pod bind is already assigned to node "n1"',
    )
  })

  test('are evicted only if disruption budgets allow it', async () => {
    await client.create(path, { ...pod('guarded'), metadata: { name: 'guarded', labels: { app: 'g' } } })
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await client.patch(`${path}/guarded/status`, { status })
    const budgets = '/apis/policy/v1/namespaces/a/poddisruptionbudgets'
    await client.create(budgets, named('b', { spec: { minAvailable: 1, selector: { matchLabels: { app: 'g' } } } }))
    const eviction = named('guarded', { apiVersion: 'policy/v1', kind: 'Eviction' })
    expect((await client.create(`${path}/guarded/eviction`, { ...eviction, metadata: {} })).body.message).toBe(
      'name in URL does not match name in Eviction object',
    )
    const causes = async (): Promise<unknown> =>
      (await client.create(`${path}/guarded/eviction`, eviction)).body.details.causes
    expect(await causes()).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget b is still being processed by the server.' },
    ])
    await client.patch(`${budgets}/b/status`, {
      status: { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1 },
    })
    expect(await causes()).toEqual([
      { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 1 currently' },
    ])
    await client.patch(`${budgets}/b/status`, { status: { disruptionsAllowed: 1 } })
    expect(
      (await client.create(`${path}/guarded/eviction`, { ...eviction, apiVersion: 'policy/v1beta1' })).status,
    ).toBe(201)
    expect((await client.send(`GET ${budgets}/b`)).body.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { guarded: '2026-01-02T03:04:05Z' },
    })
  })

  test('that are unhealthy are evicted despite a budget; a failed precondition asks the client to retry', async () => {
    await client.create(path, { ...pod('ill'), metadata: { name: 'ill', labels: { app: 'i' } } })
    await client.patch(`${path}/ill/status`, { status: { phase: 'Running' } })
    const spec = { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: { app: 'i' } } }
    await client.create('/apis/policy/v1/namespaces/a/poddisruptionbudgets', named('always', { spec }))
    const evict = (preconditions: object) =>
      client.create(
        `${path}/ill/eviction`,
        named('ill', { apiVersion: 'policy/v1', kind: 'Eviction', deleteOptions: { preconditions } }),
      )
    const { status, body } = await evict({ uid: 'other' })
    expect([status, body.details.causes]).toEqual([
      429,
      [{ reason: 'DisruptionBudget', message: 'The disruption budget always is still being processed by the server.' }],
    ])
    expect((await evict({ uid: 'other', resourceVersion: '1' })).status).toBe(409)
    expect((await evict({})).status).toBe(201)
  })

  test('get ephemeral containers through the subresource, which cannot remove them', async () => {
    await client.create(path, pod('debug'))
    const add = { spec: { ephemeralContainers: [{ name: 'e', image: 'busybox' }] } }
    expect(
      (await client.patch(`${path}/debug/ephemeralcontainers`, add, strategicMerge)).body.metadata.generation,
    ).toBe(2)
    const remove = { spec: { ephemeralContainers: [] } }
    expect(problemOf(await client.patch(`${path}/debug/ephemeralcontainers`, remove))).toBe(
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
    )
  })

  test.each([
    ['GET', 'log', 204, ''],
    ['GET', 'log?container=zz', 400, 'container zz is not valid for pod lonely'],
    [
      'GET',
      'log?tailLines=-1',
      422,
      'PodLogOptions "lonely" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['POST', 'exec?command=ls', 400, 'pod lonely does not have a host assigned'],
    ['POST', 'portforward', 400, 'pod lonely does not have a host assigned'],
    ['GET', 'proxy', 400, 'address not allowed'],
  ])('answer %s %s as on a server without nodes', async (method, subresource, status, message) => {
    await client.create(path, pod('lonely'))
    const answer = await client.send(`${method} ${path}/lonely/${subresource}`)
    expect(answer.status).toBe(status)
    expect(answer.body.message ?? answer.text).toBe(message)
  })

  test.each([
    ['spec.nodeName=n9', 1],
    ['spec.nodeName!=n9,metadata.name=selected', 0],
    ['status.phase=Pending,spec.host=n9', 1],
  ])('support the field selector %s', async (selector, count) => {
    await client.create(path, pod('selected', { nodeName: 'n9' }))
    const { body } = await client.send(`GET ${path}?fieldSelector=${encodeURIComponent(selector)}`)
    expect(body.items).toHaveLength(count)
  })

  test('reject unknown field selectors', async () => {
    const { body } = await client.send(`GET ${path}?fieldSelector=x=y`)
    expect(body.message).toContain('field label not supported: x')
  })
})
