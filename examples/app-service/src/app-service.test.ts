import { type Draft, isInvalid } from 'kubewright'
import { Deployment, Event, Pod, Service } from 'kubewright/k8s'
import { isFalse, isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { AppService } from './app-service.ts'
import { operator } from './operator.ts'
import { tutorialOperator } from './tutorial.ts'

type Spec = Partial<Draft<typeof AppService>['spec']>

const nginxApp = (spec: Spec = {}) =>
  AppService({
    metadata: { name: 'nginx-app' },
    spec: { replicas: 2, image: 'nginx:alpine', ports: [{ port: 80, targetPort: 80, nodePort: 30002 }], ...spec },
  })

/** Another Service that uses the port. */
const squatter = Service({
  metadata: { name: 'squatter' },
  spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30002 }] },
})

const start = (which = operator): Promise<TestEnv> => startTestEnv(which, { time: 'virtual' })
const lastError = (env: TestEnv): string => String(env.reconciles().find(({ error }) => error !== undefined)?.error)
const runs = (replicas: number) => (app: AppService) => app.status?.availableReplicas === replicas

describe('an AppService', () => {
  test('creates a Deployment and a Service, follows its spec, and deletes both when it is deleted', async () => {
    await using env = await start()
    const resources = { limits: { cpu: '500m' } }
    await env.client.create(nginxApp({ envs: [{ name: 'COLOUR', value: 'blue' }], resources }))
    const app = await env.until(AppService, 'nginx-app', isTrue('Available'))
    expect(app.status).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2 })
    expect(await env.client.list(Pod, { labels: { app: 'nginx-app' } })).toHaveLength(2)
    const owner = { kind: 'AppService', name: 'nginx-app', uid: app.metadata.uid, controller: true }
    expect(await env.client.get(Deployment, 'nginx-app')).toMatchObject({
      metadata: { ownerReferences: [owner] },
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'nginx-app',
                image: 'nginx:alpine',
                env: [{ name: 'COLOUR' }],
                resources,
                ports: [{ containerPort: 80 }],
              },
            ],
          },
        },
      },
    })
    expect(await env.client.get(Service, 'nginx-app')).toMatchObject({
      metadata: { ownerReferences: [owner] },
      spec: {
        type: 'NodePort',
        selector: { app: 'nginx-app' },
        ports: [{ port: 80, targetPort: 80, nodePort: 30002 }],
      },
    })

    await env.client.patch(AppService, 'nginx-app', { spec: { replicas: 5 } })
    await env.until(AppService, 'nginx-app', runs(5))
    await env.client.subresource(AppService, 'scale').patch('nginx-app', { spec: { replicas: 1 } })
    await env.until(AppService, 'nginx-app', runs(1))

    await env.client.delete(AppService, 'nginx-app')
    await Promise.all([env.gone(Deployment, 'nginx-app'), env.gone(Service, 'nginx-app')])
    await env.settled()
    expect(await env.client.list(Pod)).toEqual([])
  })

  test('keeps the cluster IP of its Service when its ports change, and has no Service without ports', async () => {
    await using env = await start()
    await env.client.create(nginxApp())
    const { spec: first } = await env.until(Service, 'nginx-app')
    await env.client.patch(AppService, 'nginx-app', { spec: { ports: [{ port: 8080 }] } })
    const { spec } = await env.until(Service, 'nginx-app', (service) => service.spec?.ports?.[0]?.port === 8080)
    expect(spec?.ports).toHaveLength(1)
    expect(spec?.clusterIP).toBe(first?.clusterIP)

    await env.client.patch(AppService, 'nginx-app', { spec: { ports: null } })
    await env.gone(Service, 'nginx-app')
    await env.until(AppService, 'nginx-app', isFalse('Exposed'))
  })

  test('is not reconciled again once it has settled', async () => {
    await using env = await start()
    await env.client.create(nginxApp())
    await env.until(AppService, 'nginx-app', isTrue('Available'))
    await env.settled()
    const before = env.reconciles().length
    const patched = await env.client.patch(AppService, 'nginx-app', { metadata: { labels: { looked: 'at' } } })
    await env.settled()
    // The changed label triggers one reconcile that changes nothing.
    expect(env.reconciles().length - before).toBe(1)
    const { metadata } = await env.client.get(AppService, 'nginx-app')
    expect(metadata.resourceVersion).toBe(patched.metadata.resourceVersion)
  })

  test('requires an image and a number of replicas', async () => {
    await using env = await start()
    await expect(env.client.create(nginxApp({ image: '' }))).rejects.toSatisfy(isInvalid)
    await expect(env.client.create(nginxApp({ replicas: -1 }))).rejects.toThrow(
      'spec.replicas in body should be greater than or equal to 0',
    )
  })
})

// Each mistake as the tutorial makes it, and the correct behaviour.
describe('the mistakes of the tutorial', () => {
  describe('1: a Service that is rejected at first', () => {
    test('tutorial: is never created, because the annotation with the last spec is never written', async () => {
      await using env = await start(tutorialOperator)
      await env.client.create(squatter)
      await env.client.create(nginxApp())
      await env.until(Deployment, 'nginx-app')
      await env.client.delete(Service, 'squatter')
      await env.advance('30m')
      expect(await env.client.find(Service, 'nginx-app')).toBeUndefined()
      expect(lastError(env)).toContain('SyntaxError')
    })

    test('here: is created as soon as possible, and the status has the reason until then', async () => {
      await using env = await start()
      await env.client.create(squatter)
      await env.client.create(nginxApp())
      const app = await env.until(AppService, 'nginx-app', isFalse('Exposed'))
      const reason = app.status?.conditions.find(({ type }) => type === 'Exposed')
      expect(reason).toMatchObject({ reason: 'ServiceRefused' })
      expect(reason?.message).toContain('provided port is already allocated')
      await env.until(AppService, 'nginx-app', isTrue('Available'))
      await env.client.delete(Service, 'squatter')
      await env.until(AppService, 'nginx-app', isTrue('Exposed'), { timeout: '2m' })
      expect((await env.client.get(Service, 'nginx-app')).spec?.ports?.[0]?.nodePort).toBe(30002)
      const events = await env.client.list(Event, { fields: { 'involvedObject.kind': 'AppService' } })
      expect(events.map(({ reason }) => reason)).toContain('ServiceRefused')
    })
  })

  describe('2: a Deployment that is deleted', () => {
    test('tutorial: is not created again until the AppService changes, which then fails', async () => {
      await using env = await start(tutorialOperator)
      await env.client.create(nginxApp({ ports: [{ port: 80, targetPort: 80 }] }))
      await env.until(AppService, 'nginx-app', ({ metadata }) => metadata.annotations?.['spec'] !== undefined)
      await env.client.delete(Deployment, 'nginx-app')
      await env.advance('30m')
      expect(await env.client.find(Deployment, 'nginx-app')).toBeUndefined()

      await env.client.patch(AppService, 'nginx-app', { spec: { replicas: 3 } })
      await env.until(Deployment, 'nginx-app')
      await env.settled()
      expect(lastError(env)).toContain('services "nginx-app" already exists')
    })

    test('here: is created again, like the Service', async () => {
      await using env = await start()
      await env.client.create(nginxApp())
      const first = await env.until(Deployment, 'nginx-app')
      await env.until(AppService, 'nginx-app', isTrue('Exposed'))
      await env.client.delete(Deployment, 'nginx-app')
      await env.until(Deployment, 'nginx-app', ({ metadata }) => metadata.uid !== first.metadata.uid)
      await env.until(AppService, 'nginx-app', runs(2))
      const service = await env.client.delete(Service, 'nginx-app')
      await env.until(Service, 'nginx-app', ({ metadata }) => metadata.uid !== service?.metadata.uid)
    })
  })

  describe('3: foreign changes of the children', () => {
    const meddle = async (env: TestEnv) => {
      await env.client.patch(Deployment, 'nginx-app', { spec: { replicas: 7 } })
      await env.client.patch(Service, 'nginx-app', { spec: { selector: { app: 'other' } } })
      await env.settled()
      const { spec: deployment } = await env.client.get(Deployment, 'nginx-app')
      const { spec: service } = await env.client.get(Service, 'nginx-app')
      return [deployment?.replicas, service?.selector]
    }

    test('tutorial: are kept', async () => {
      await using env = await start(tutorialOperator)
      await env.client.create(nginxApp())
      await env.until(Service, 'nginx-app')
      await env.settled()
      expect(await meddle(env)).toEqual([7, { app: 'other' }])
    })

    test('here: are reverted', async () => {
      await using env = await start()
      await env.client.create(nginxApp())
      await env.until(AppService, 'nginx-app', runs(2))
      expect(await meddle(env)).toEqual([2, { app: 'nginx-app' }])
    })
  })

  describe('4: the status', () => {
    test('tutorial: is never set', async () => {
      await using env = await start(tutorialOperator)
      await env.client.create(nginxApp())
      await env.until(Deployment, 'nginx-app', ({ status }) => status?.availableReplicas === 2)
      await env.settled()
      expect((await env.client.get(AppService, 'nginx-app')).status).toBeUndefined()
    })

    test('here: reflects the Deployment', async () => {
      await using env = await start()
      await env.client.create(nginxApp())
      const { status } = await env.until(AppService, 'nginx-app', isTrue('Available'))
      expect(status?.availableReplicas).toBe(2)
    })
  })

  describe.each([
    ['a name', { port: 80, targetPort: 'http' }, { containerPort: 80, name: 'http' }],
    ['missing', { port: 8080 }, { containerPort: 8080 }],
    ['zero', { port: 8080, targetPort: 0 }, { containerPort: 8080 }],
  ])('5: a targetPort that is %s', (_, port, containerPort) => {
    test('tutorial: becomes port 0, which is invalid in a Deployment', async () => {
      await using env = await start(tutorialOperator)
      await env.client.create(nginxApp({ ports: [port] }))
      await env.settled()
      expect(await env.client.find(Deployment, 'nginx-app')).toBeUndefined()
      expect(lastError(env)).toContain('containerPort')
    })

    test('here: becomes a container port that the Service resolves', async () => {
      await using env = await start()
      await env.client.create(nginxApp({ ports: [port] }))
      await env.until(AppService, 'nginx-app', isTrue('Exposed'))
      const { spec } = await env.client.get(Deployment, 'nginx-app')
      expect(spec?.template.spec?.containers[0]?.ports).toEqual([{ ...containerPort, protocol: 'TCP' }])
    })
  })
})
