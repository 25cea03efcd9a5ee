import { findCondition } from '@kubewright/api'
import { Deferred } from '@kubewright/base'
import { builtinControllers, createDefaultStorageClass, type ProcessSpec, volumeBinder } from '@kubewright/controllers'
import { ConfigMap, Event, Lease, Node, PersistentVolumeClaim, Pod, PriorityClass, Secret } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const none = { controllers: [] }
const web = (
  name: string,
  more: Partial<Parameters<typeof Pod>[0]['spec']> = {},
  annotations: Record<string, string> = {},
) =>
  Pod({
    metadata: { name, namespace: 'test', annotations },
    spec: { containers: [{ name: 'c', image: 'nginx' }], ...more },
  })
const asking = (cpu: string) => ({ containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu } } }] })

test('an unschedulable pod reports the reason and starts when there is room', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'small', capacity: { cpu: '2' } }] })
  const { api } = plane
  await api.create(web('first', asking('1500m')))
  await plane.until(Pod, 'test/first', ({ status }) => status?.phase === 'Running')
  await api.create(web('second', asking('1')))
  await plane.settle()
  const waiting = await api.get(Pod, 'test/second')
  const message =
    '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: ' +
    '0/1 nodes are available: 1 No preemption victims found for incoming pod.'
  expect(findCondition(waiting.status?.conditions, 'PodScheduled')).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message,
  })
  const events = await api.list(Event, { namespace: 'test' })
  expect(events.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['Scheduled', 'FailedScheduling']))
  await api.delete(Pod, 'test/first')
  const second = await plane.until(Pod, 'test/second', ({ status }) => status?.phase === 'Running')
  expect(second.spec.nodeName).toBe('small')
  expect(await api.find(Pod, 'test/first')).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('an extended resource that a client adds to the capacity of a node becomes allocatable, and is removed with it', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'one' }] })
  const { api } = plane
  const limits = { 'example.com/gpu': '2' }
  await api.create(web('needy', { containers: [{ name: 'c', image: 'nginx', resources: { limits } }] }))
  await plane.settle()
  expect((await api.get(Pod, 'test/needy')).spec.nodeName).toBeUndefined()
  const nodeStatus = api.subresource(Node, 'status')
  await nodeStatus.patch('one', { status: { capacity: { 'example.com/gpu': '4' } } }, { type: 'strategic' })
  await plane.until(Pod, 'test/needy', ({ status }) => status?.phase === 'Running')
  expect((await api.get(Node, 'one')).status?.allocatable).toMatchObject({ 'example.com/gpu': '4', pods: '5k' })
  await nodeStatus.patch('one', { status: { capacity: { 'example.com/gpu': null as never } } }, { type: 'strategic' })
  await plane.until(Node, 'one', ({ status }) => status?.allocatable?.['example.com/gpu'] === undefined)
  expect(plane.errors()).toEqual([])
})

test('a pod with affinity to another pod starts when that pod has a node', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'one' }, { name: 'two' }] })
  const { api } = plane
  const near = { labelSelector: { matchLabels: { app: 'b' } }, topologyKey: 'kubernetes.io/hostname' }
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  await api.create(web('a', { affinity }))
  await plane.until(
    Pod,
    'test/a',
    ({ status }) => findCondition(status?.conditions, 'PodScheduled')?.status === 'False',
  )
  // Also unschedulable; events of other pods do not trigger another attempt.
  await api.create(web('nowhere', { nodeSelector: { disk: 'ssd' } }))
  await plane.settle()
  const { metadata, spec } = web('b')
  await api.create(Pod({ metadata: { ...metadata, labels: { app: 'b' } }, spec }))
  const a = await plane.until(Pod, 'test/a', ({ status }) => status?.phase === 'Running')
  expect(a.spec.nodeName).toBe((await api.get(Pod, 'test/b')).spec.nodeName)
  expect((await api.get(Pod, 'test/nowhere')).spec.nodeName).toBeUndefined()
  await api.patch(Node, 'two', { metadata: { labels: { disk: 'ssd' } } })
  const found = await plane.until(Pod, 'test/nowhere', ({ status }) => status?.phase === 'Running')
  expect(found.spec.nodeName).toBe('two')
  expect(plane.errors()).toEqual([])
})

test('nodes have a status that kubectl can show, and pods have unique addresses', async () => {
  await using plane = await startPlane({ ...none, nodes: 2 })
  const [first, second] = await plane.api.list(Node)
  expect(findCondition(first?.status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' })
  expect(first?.status?.allocatable).toMatchObject({ cpu: '32', pods: '5k' })
  expect(first?.spec?.taints).toBeUndefined()
  expect(second?.metadata.name).toBe('node-2')
  for (const name of ['a', 'b', 'c', 'd']) await plane.api.create(web(name))
  await plane.settle()
  const pods = await plane.api.list(Pod, { namespace: 'test' })
  expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(4)
  expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-1', 'node-2']))
  expect(plane.errors()).toEqual([])
})

test('logs are served, also of the previous container', async () => {
  await using plane = await startPlane({ ...none, nodes: 1 })
  await plane.api.create(
    web('crash', {}, { 'kubewright.dev/log': 'starting\ngoing on', 'kubewright.dev/exit-code': '1' }),
  )
  await plane.advance('1500ms')
  const lines: string[] = []
  for await (const line of plane.api.logs('test/crash')) lines.push(line)
  for await (const line of plane.api.logs('test/crash', { previous: true, tailLines: 1 })) lines.push(line)
  expect(lines.map((line) => line.trimEnd())).toEqual(['starting', 'going on', 'going on'])
  expect(plane.errors()).toEqual([])
})

test('a pod is stopped within its grace period', async () => {
  await using plane = await startPlane({ ...none, nodes: 1, plan: { default: { stopAfter: '1m' } } })
  const { api } = plane
  await api.create(web('slow', { terminationGracePeriodSeconds: 20 }))
  await plane.settle()
  await api.delete(Pod, 'test/slow')
  await plane.advance('19s')
  expect((await api.get(Pod, 'test/slow')).metadata.deletionTimestamp).toBeDefined()
  await plane.advance('2s')
  expect(await api.find(Pod, 'test/slow')).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('a pod with the process annotation runs a real process and terminates with it', async () => {
  const started: ProcessSpec[] = []
  const exit = new Deferred<number>()
  const processes = {
    start: (spec: ProcessSpec) => {
      started.push(spec)
      spec.onLine('hello from the process')
      return { exited: exit.promise, stop: () => exit.resolve(143) }
    },
  }
  await using plane = await startPlane({ ...none, nodes: 1, processes })
  const { api } = plane
  const containers = [
    { name: 'c', image: 'etcd', command: ['etcd'], args: ['--version'], env: [{ name: 'A', value: 'b' }] },
  ]
  await api.create(web('real', { containers, restartPolicy: 'Never' }, { 'kubewright.dev/process': 'true' }))
  await plane.until(Pod, 'test/real', ({ status }) => status?.phase === 'Running')
  expect(started).toMatchObject([
    { command: ['etcd', '--version'], env: { A: 'b', POD_NAME: 'real', POD_NAMESPACE: 'test' } },
  ])
  await plane.advance('1h')
  expect((await api.get(Pod, 'test/real')).status?.phase).toBe('Running')
  exit.resolve(7)
  const ended = await plane.until(Pod, 'test/real', ({ status }) => status?.phase === 'Failed')
  expect(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(7)
  expect(started).toHaveLength(1)
  expect(plane.errors()).toEqual([])
})

test('pods of a deleted node are deleted after a while', async () => {
  const controllers = builtinControllers
    .filter(({ name }) => name.startsWith('pod-garbage'))
    .flatMap((one) => one.controllers)
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(web('lost'))
  await plane.settle()
  await api.delete(Node, 'node-1')
  await plane.advance('30s')
  expect(await api.find(Pod, 'test/lost')).toBeDefined()
  await plane.advance('1m')
  expect(await api.find(Pod, 'test/lost')).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

const lifecycle = builtinControllers
  .filter(({ name }) => name === 'node-lifecycle-controller' || name === 'taint-eviction-controller')
  .flatMap((one) => one.controllers)

test('simulated nodes with a heartbeat renew their leases and stay ready', async () => {
  await using plane = await startPlane({ controllers: lifecycle, nodes: 12, heartbeat: '10s' })
  const { api } = plane
  await plane.advance('11m')
  const leases = await api.list(Lease, { namespace: 'kube-node-lease' })
  expect(leases).toHaveLength(12)
  for (const { metadata, spec } of leases) {
    expect(spec).toMatchObject({ holderIdentity: metadata.name, leaseDurationSeconds: 40 })
    expect(plane.clock.now() - Date.parse(spec?.renewTime ?? '')).toBeLessThanOrEqual(11_000)
  }
  for (const node of await api.list(Node)) {
    const ready = findCondition(node.status?.conditions, 'Ready')
    expect(ready).toMatchObject({ status: 'True' })
    const { lastHeartbeatTime = '', lastTransitionTime } = ready as {
      lastHeartbeatTime?: string
      lastTransitionTime: string
    }
    expect(plane.clock.now() - Date.parse(lastHeartbeatTime)).toBeLessThanOrEqual(320_000)
    expect(Date.parse(lastTransitionTime)).toBe(Date.UTC(2025, 0, 1))
  }
  expect(plane.errors()).toEqual([])
})

test('a simulated node with a heartbeat repairs its status, and its lease is created again', async () => {
  await using plane = await startPlane({ controllers: lifecycle, nodes: 2, heartbeat: '10s' })
  const { api } = plane
  await plane.advance('15s')
  const lost = { status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] } }
  await api.subresource(Node, 'status').patch('node-1', lost, { type: 'strategic' })
  await api.delete(Lease, { namespace: 'kube-node-lease', name: 'node-1' })
  await plane.advance('21s')
  const { status, spec } = await api.get(Node, 'node-1')
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' })
  expect(spec?.taints).toBeUndefined()
  expect(await api.find(Lease, { namespace: 'kube-node-lease', name: 'node-1' })).toBeDefined()
  expect(plane.errors()).toEqual([])
})

test('a node that stops reporting becomes Unknown, its pods not ready, and then they are evicted', async () => {
  await using plane = await startPlane({ controllers: lifecycle, nodes: 1 })
  const { api } = plane
  await api.create(Node({ metadata: { name: 'lost' } }))
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'KubeletReady' }]
  await api.subresource(Node, 'status').patch('lost', { status: { conditions } }, { type: 'strategic' })
  const tolerations = [
    {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists' as const,
      effect: 'NoExecute' as const,
      tolerationSeconds: 30,
    },
  ]
  await api.create(web('there', { nodeName: 'lost', tolerations }))
  const ready = [{ type: 'Ready', status: 'True' as const }]
  await api.subresource(Pod, 'status').patch('test/there', { status: { conditions: ready } }, { type: 'strategic' })
  await plane.advance('49s')
  expect(findCondition((await api.get(Node, 'lost')).status?.conditions, 'Ready')?.status).toBe('True')
  await plane.advance('2s')
  const node = await api.get(Node, 'lost')
  expect(findCondition(node.status?.conditions, 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  })
  expect(findCondition(node.status?.conditions, 'DiskPressure')).toMatchObject({ reason: 'NodeStatusNeverUpdated' })
  expect(node.spec?.taints?.map(({ key, effect }) => `${key} ${effect}`)).toEqual([
    'node.kubernetes.io/unreachable NoSchedule',
    'node.kubernetes.io/unreachable NoExecute',
  ])
  expect(findCondition((await api.get(Pod, 'test/there')).status?.conditions, 'Ready')?.status).toBe('False')
  const events = await api.list(Event, { namespace: '' })
  const messages = events.map(({ reason, message }) => `${reason}: ${message}`)
  expect(messages).toContain('RegisteredNode: Node lost event: Registered Node lost in Controller')
  expect(messages).toContain('NodeNotReady: Node lost status is now: NodeNotReady')
  expect(messages).toContain('NodeNotReady: Node is not ready')
  await plane.advance('40s')
  expect((await api.find(Pod, 'test/there'))?.metadata.deletionTimestamp).toBeDefined()
  expect(plane.errors()).toEqual([])
})

test('a single node that never reports is tainted, but its pods are not evicted', async () => {
  await using plane = await startPlane({ controllers: lifecycle })
  const { api } = plane
  await api.create(Node({ metadata: { name: 'alone' } }))
  await api.create(web('there', { nodeName: 'alone' }))
  await plane.advance('10m')
  const node = await api.get(Node, 'alone')
  expect(findCondition(node.status?.conditions, 'Ready')).toMatchObject({ reason: 'NodeStatusNeverUpdated' })
  expect(node.spec?.taints?.map(({ key, effect }) => `${key} ${effect}`)).toEqual([
    'node.kubernetes.io/unreachable NoSchedule',
  ])
  expect((await api.get(Pod, 'test/there')).metadata.deletionTimestamp).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

const reasonOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting

test('a pod waits for the ConfigMaps and Secrets of its environment and volumes', async () => {
  await using plane = await startPlane({ ...none, nodes: 1 })
  const { api } = plane
  const env = [
    { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: 'perhaps', key: 'b', optional: true } } },
  ]
  await api.create(web('env', { containers: [{ name: 'c', image: 'nginx', env }] }))
  const volumes = [
    { name: 'files', secret: { secretName: 'keys' } },
    { name: 'more', configMap: { name: 'perhaps', optional: true } },
  ]
  await api.create(web('files', { volumes }))
  await plane.settle()
  const waiting = await api.get(Pod, 'test/env')
  expect(waiting.status?.phase).toBe('Pending')
  expect(reasonOf(waiting)).toEqual({ reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' })
  const unmounted = await api.get(Pod, 'test/files')
  expect(reasonOf(unmounted)).toEqual({ reason: 'ContainerCreating' })
  expect(unmounted.status?.podIP).toBeUndefined()
  expect(findCondition(unmounted.status?.conditions, 'PodReadyToStartContainers')?.status).toBe('False')
  const messages = (await api.list(Event, { namespace: 'test' })).map(({ reason, message }) => `${reason}: ${message}`)
  expect(messages).toContain('Failed: Error: configmap "settings" not found')
  expect(messages).toContain('FailedMount: MountVolume.SetUp failed for volume "files" : secret "keys" not found')

  await api.create(ConfigMap({ metadata: { name: 'settings', namespace: 'test' }, data: { b: '' } }))
  await plane.settle()
  expect(reasonOf(await api.get(Pod, 'test/env'))?.message).toBe("couldn't find key a in ConfigMap test/settings")
  await api.patch(ConfigMap, 'test/settings', { data: { a: '1' } })
  await api.create(Secret({ metadata: { name: 'keys', namespace: 'test' } }))
  await plane.until(Pod, 'test/env', ({ status }) => status?.phase === 'Running')
  const mounted = await plane.until(Pod, 'test/files', ({ status }) => status?.phase === 'Running')
  expect(mounted.status?.podIP).toBeDefined()
  expect(plane.errors()).toEqual([])
})

test('a pod waits for its claim, and then for the volume of the claim', async () => {
  await using plane = await startPlane({ controllers: [volumeBinder], nodes: 1 })
  const { api } = plane
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }]
  await api.create(web('store', { volumes }))
  await api.create(web('pinned', { volumes, nodeName: 'node-1' }))
  await plane.settle()
  const after =
    'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
  const refusal = async () =>
    findCondition((await api.get(Pod, 'test/store')).status?.conditions, 'PodScheduled')?.message
  expect(await refusal()).toBe(`0/1 nodes are available: persistentvolumeclaim "disk" not found. ${after}`)
  expect(reasonOf(await api.get(Pod, 'test/pinned'))).toEqual({ reason: 'ContainerCreating' })
  const spec = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } }
  await api.create(PersistentVolumeClaim({ metadata: { name: 'disk', namespace: 'test' }, spec }))
  await plane.settle()
  expect(await refusal()).toBe(`0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. ${after}`)
  await createDefaultStorageClass(api)
  await plane.until(Pod, 'test/store', ({ status }) => status?.phase === 'Running')
  await plane.until(Pod, 'test/pinned', ({ status }) => status?.phase === 'Running')
  expect(plane.errors()).toEqual([])
})

test('a pod of higher priority preempts another one and gets its node', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'small', capacity: { cpu: '2' } }] })
  const { api } = plane
  await api.create(PriorityClass({ metadata: { name: 'urgent' }, value: 1000 }))
  await api.create(
    web('low', { ...asking('1500m'), terminationGracePeriodSeconds: 10 }, { 'kubewright.dev/stop-after': '5s' }),
  )
  await plane.until(Pod, 'test/low', ({ status }) => status?.phase === 'Running')
  await api.create(web('high', { ...asking('1'), priorityClassName: 'urgent' }))
  await plane.settle()
  expect((await api.get(Pod, 'test/high')).status?.nominatedNodeName).toBe('small')
  const victim = await api.get(Pod, 'test/low')
  expect(victim.metadata.deletionTimestamp).toBeDefined()
  expect(findCondition(victim.status?.conditions, 'DisruptionTarget')).toMatchObject({
    reason: 'PreemptionByScheduler',
    message: 'default-scheduler: preempting to accommodate a higher priority pod',
  })
  // The room is reserved for the preemptor.
  await api.create(web('late', asking('1500m')))
  const high = await plane.until(Pod, 'test/high', ({ status }) => status?.phase === 'Running')
  expect(high.spec.nodeName).toBe('small')
  expect((await api.get(Pod, 'test/late')).spec.nodeName).toBeUndefined()
  const messages = (await api.list(Event, { namespace: 'test' })).map(({ reason, message }) => `${reason}: ${message}`)
  expect(messages).toContain(`Preempted: Preempted by pod ${high.metadata.uid} on node small`)
  expect(plane.errors()).toEqual([])
})

test('a pod that loses its room to one of higher priority preempts another pod at once', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'small', capacity: { cpu: '2' } }] })
  const { api } = plane
  await api.create(PriorityClass({ metadata: { name: 'medium' }, value: 100 }))
  await api.create(PriorityClass({ metadata: { name: 'high' }, value: 1000 }))
  const slow = { ...asking('900m'), terminationGracePeriodSeconds: 60 }
  for (const name of ['low-1', 'low-2']) {
    await api.create(web(name, slow, { 'kubewright.dev/stop-after': '50s' }))
    await plane.until(Pod, `test/${name}`, ({ status }) => status?.phase === 'Running')
  }
  const going = async (): Promise<number> =>
    (await api.list(Pod, { namespace: 'test' })).filter(({ metadata }) => metadata.deletionTimestamp).length
  await api.create(web('medium', { ...asking('900m'), priorityClassName: 'medium' }))
  await plane.settle()
  expect(await going()).toBe(1)
  await api.create(web('high', { ...asking('900m'), priorityClassName: 'high' }))
  await plane.settle()
  expect(await going()).toBe(2)
  for (const name of ['medium', 'high'])
    expect((await api.get(Pod, `test/${name}`)).status?.nominatedNodeName).toBe('small')
  for (const name of ['medium', 'high'])
    await plane.until(Pod, `test/${name}`, ({ status }) => status?.phase === 'Running')
  expect(plane.errors()).toEqual([])
})

test('a node rejects a pod that names it and does not fit, and observes the generation of refused pods', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'small', capacity: { cpu: '2' } }] })
  const { api } = plane
  await api.create(web('large', { nodeName: 'small', ...asking('3') }))
  const large = await plane.until(Pod, 'test/large', ({ status }) => status?.phase === 'Failed')
  expect(large.status).toMatchObject({
    observedGeneration: 1,
    reason: 'OutOfcpu',
    message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  })
  await api.create(web('waiting', asking('3')))
  await plane.settle()
  const { status } = await api.get(Pod, 'test/waiting')
  expect(findCondition(status?.conditions, 'PodScheduled')).toMatchObject({ status: 'False', observedGeneration: 1 })
  expect(plane.errors()).toEqual([])
})

test('a pod fails at its deadline', async () => {
  await using plane = await startPlane({ ...none, nodes: [{ name: 'one' }] })
  await plane.api.create(web('late', { activeDeadlineSeconds: 30 }))
  await plane.until(Pod, 'test/late', ({ status }) => status?.phase === 'Running')
  const { status } = await plane.until(Pod, 'test/late', (pod) => pod.status?.phase === 'Failed')
  expect(status).toMatchObject({ reason: 'DeadlineExceeded', containerStatuses: [{ state: { terminated: {} } }] })
})
