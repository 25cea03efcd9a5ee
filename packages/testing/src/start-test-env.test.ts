import { condition, defineResource } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import { ConfigMap, Deployment, Namespace, Pod, ReplicaSet, ServiceAccount } from '@kubewright/k8s'
import {
  type AccessRule,
  defineController,
  defineOperator,
  defineWebhook,
  duplicate,
  type Operator,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { isTrue } from './conditions.ts'
import { startTestEnv } from './start-test-env.ts'
import { testContext } from './test-context.ts'
import type { TestEnvOptions } from './test-env.ts'

const Greeting = defineResource({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Greeting',
  spec: s.object({ text: s.string(), every: s.int().default(0) }),
  status: s.object({ conditions: s.conditions('Ready') }),
})

const operator = () =>
  defineOperator({
    name: 'greeter',
    leaderElection: true,
    controllers: [
      defineController(Greeting, {
        owns: [ConfigMap],
        async reconcile({ metadata, spec }, { apply }) {
          await apply(ConfigMap({ metadata: { name: metadata.name }, data: { text: spec.text } }))
          const status = { conditions: [condition('Ready', true, 'Written')] }
          return spec.every > 0 ? { status, requeueAfter: `${spec.every}s` } : { status }
        },
      }),
    ],
    webhooks: [
      defineWebhook(Greeting, {
        default: (draft) => {
          draft.spec.text = draft.spec.text.trim()
        },
        validate: async ({ metadata, spec }, { client }) => [
          (await client.list(Greeting)).some(
            (other) => other.spec.text === spec.text && other.metadata.name !== metadata.name,
          ) && duplicate('spec.text', spec.text),
        ],
      }),
    ],
  })

const deployment = (name: string, replicas: number) =>
  Deployment({
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  })

describe.each<TestEnvOptions>([
  { transport: 'in-process' },
  { transport: 'https' },
  { transport: 'in-process', time: 'virtual' },
  { time: 'virtual', leaderElection: true },
])('startTestEnv() with %o', (options) => {
  test('runs the operator with its webhooks; until() and gone() wait for objects', async () => {
    await using env = await startTestEnv(operator(), options)
    await env.client.create(Greeting({ metadata: { name: 'hello' }, spec: { text: ' hello ' } }))
    const greeting = await env.until(Greeting, 'hello', isTrue('Ready'))
    expect(greeting.spec.text).toBe('hello')
    expect((await env.client.get(ConfigMap, 'hello')).data).toEqual({ text: 'hello' })

    const twin = Greeting({ metadata: { name: 'twin' }, spec: { text: 'hello' } })
    await expect(env.client.create(twin)).rejects.toMatchObject({
      reason: 'Invalid',
      causes: [{ field: 'spec.text', reason: 'FieldValueDuplicate' }],
    })
    await env.client.delete(Greeting, 'hello')
    await Promise.all([env.gone(Greeting, 'hello'), env.gone(ConfigMap, 'hello')])
  })
})

describe('startTestEnv()', () => {
  test('advances virtual time with advance()', async () => {
    await using env = await startTestEnv(operator(), { time: 'virtual' })
    await env.client.create(Greeting({ metadata: { name: 'often' }, spec: { text: 'tick', every: 60 } }))
    await env.until(Greeting, 'often', isTrue('Ready'))
    await env.settled()
    const before = env.reconciles().length
    await env.advance('10m')
    expect(env.reconciles().length - before).toBe(10)
  })

  test('provides virtual time to reconcilers and webhooks', async () => {
    const Alarm = defineResource({
      group: 'test.example.com',
      version: 'v1',
      kind: 'Alarm',
      spec: s.object({ set: s.string().optional() }),
      status: s.object({ seen: s.string() }),
    })
    const alarms = defineOperator({
      name: 'alarms',
      controllers: [
        defineController(Alarm, {
          reconcile: (_, { now }) => ({ status: { seen: now().toISOString() }, requeueAfter: '1m' }),
        }),
      ],
      webhooks: [
        defineWebhook(Alarm, {
          default: (draft, { now }) => {
            draft.spec.set ??= now().toISOString()
          },
        }),
      ],
    })
    await using env = await startTestEnv(alarms, { time: 'virtual', nodes: 0 })
    const start = env.clock.now()
    await env.advance('10m')
    const { spec } = await env.client.create(Alarm({ metadata: { name: 'a' }, spec: {} }))
    const later = start + 600_000
    expect(Date.parse(spec.set ?? '')).toBe(later)
    await env.until(Alarm, 'a', ({ status }) => Date.parse(status?.seen ?? '') === later + 60_000)
  })

  test('reports a timed out wait with the object, its events and its reconciles', async () => {
    await using env = await startTestEnv(operator(), { time: 'virtual' })
    await env.client.create(Greeting({ metadata: { name: 'sad' }, spec: { text: 'no' } }))
    const waiting = env.until(Greeting, 'sad', isTrue('Happy'), { timeout: '1m' })
    const error = await waiting.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(isKubewrightError(error, 'KW_TEST_TIMEOUT')).toBe(true)
    expect(String(error)).toContain('Timed out after 1m0s waiting for Greeting default/sad to meet the condition.')
    expect(String(error)).toContain('text: "no"')
    expect(String(error)).toContain('greeting success')
  })

  test('rejects waits when the operator has failed permanently', async () => {
    const env = await startTestEnv(operator(), { time: 'virtual' })
    const waiting = env.until(ConfigMap, 'never')
    env.manager!.add({ name: 'broken', phase: 'leader', run: async () => Promise.reject(new Error('out of ideas')) })
    await expect(waiting).rejects.toMatchObject({ code: 'KW_TEST_OPERATOR_ENDED' })
    await expect(env.settled()).rejects.toThrow('out of ideas')
    await expect(env[Symbol.asyncDispose]()).rejects.toThrow('out of ideas')
  })

  // Deletes an object that it neither owns nor watches.
  const deleting = (rbac: AccessRule[] = []) =>
    defineOperator({
      name: 'deleting',
      controllers: [
        defineController(Greeting, {
          rbac,
          async reconcile(_, { client }) {
            await client.delete(ConfigMap, 'old')
          },
        }),
      ],
    })
  const begin = async (operator: Operator, options: TestEnvOptions = {}) => {
    const env = await startTestEnv(operator, options)
    await env.client.create(ConfigMap({ metadata: { name: 'old' } }))
    await env.client.create(Greeting({ metadata: { name: 'new' }, spec: { text: 'hello' } }))
    return env
  }
  const fix = "add { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] } to the 'rbac'"

  describe.each(['in-process', 'https'] as const)('%s', (transport) => {
    test('rejects requests that the roles do not allow, and fails the wait with the missing rule', async () => {
      await using env = await begin(deleting(), { transport })
      await expect(env.gone(ConfigMap, 'old')).rejects.toThrow(fix)
      await expect(env.settled()).rejects.toMatchObject({ code: 'KW_TEST_MISSING_RIGHT' })
    })

    test('reports a missing permission on disposal when no wait did', async () => {
      const env = await begin(deleting(), { transport })
      while (env.reconciles().length === 0) await env.client.list(ConfigMap)
      await expect(env[Symbol.asyncDispose]()).rejects.toThrow(fix)
    })

    test.each([
      ['requests that rbac names', deleting([{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }]), {}],
      ["everything with rights: 'all'", deleting(), { rights: 'all' }],
    ] as const)('allows %s', async (_, operator, options) => {
      await using env = await begin(operator, { ...options, transport })
      await env.gone(ConfigMap, 'old')
    })
  })

  test('advance() rejects with the permissions that the operator lacks', async () => {
    await using env = await begin(deleting(), { time: 'virtual' })
    await expect(env.advance('1m')).rejects.toThrow(fix)
  })

  test('lets webhooks read only what their rbac names', async () => {
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }
    const operator = (rbac: AccessRule[]) => {
      const validate = async (_: unknown, { client }: { client: Reader }) => {
        await client.list(ConfigMap)
        return []
      }
      return defineOperator({
        name: 'reading',
        controllers: [],
        webhooks: [defineWebhook(Greeting, { validate, rbac })],
      })
    }
    const greeting = Greeting({ metadata: { name: 'new' }, spec: { text: 'hello' } })
    await using env = await startTestEnv(operator([rule]))
    await env.client.create(greeting)
    const poor = await startTestEnv(operator([]))
    await expect(poor.client.create(greeting)).rejects.toMatchObject({ reason: 'Forbidden' })
    await expect(poor[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'KW_TEST_MISSING_RIGHT' })
  })

  test('refuses to advance real time', async () => {
    await using env = await startTestEnv()
    await expect(env.advance('1s')).rejects.toThrow("start it with { time: 'virtual' }")
  })

  test('runs the controllers of a cluster: workloads, owners, namespaces, service accounts', async () => {
    await using env = await startTestEnv(undefined, { time: 'virtual', namespace: 'team' })
    await env.client.create(deployment('web', 3))
    await env.until(Deployment, 'web', ({ status }) => status?.replicas === 3)
    expect(await env.client.list(ReplicaSet)).toHaveLength(1)
    await env.until(ServiceAccount, 'default')
    await env.client.delete(Deployment, 'web')
    await env.gone(Deployment, 'web')
    await env.settled()
    expect(await env.client.list(ReplicaSet)).toHaveLength(0)
    await env.client.create(ConfigMap({ metadata: { name: 'left' } }))
    await env.client.delete(Namespace, 'team')
    await env.gone(Namespace, 'team')
    expect(await env.client.list(Pod)).toHaveLength(0)
  })

  test('starts independent environments from one snapshot', async () => {
    await using first = await startTestEnv(operator(), { time: 'virtual' })
    await first.client.create(Greeting({ metadata: { name: 'shared' }, spec: { text: 'from before' } }))
    await first.until(Greeting, 'shared', isTrue('Ready'))
    await using snapshot = first.snapshot()
    const [left, right] = await Promise.all([snapshot.start(), snapshot.start()])
    try {
      await left.client.delete(Greeting, 'shared')
      await left.gone(ConfigMap, 'shared')
      expect((await right.client.get(ConfigMap, 'shared')).data).toEqual({ text: 'from before' })
      expect(right.clock.now()).toBe(first.clock.now())
    } finally {
      await left[Symbol.asyncDispose]()
      await right[Symbol.asyncDispose]()
    }
  })
})

test('the context of a reconcile and testContext() have the same members, also in a spread', async () => {
  let copy: object = {}
  const controller = defineController(Greeting, {
    reconcile: (_, context) => {
      copy = { ...context }
    },
  })
  await using env = await startTestEnv(defineOperator({ name: 'spreader', controllers: [controller] }))
  await env.client.create(Greeting({ metadata: { name: 'a' }, spec: { text: 'hi' } }))
  await env.settled()
  const { applied, events, statuses, ...members } = testContext()
  expect(Object.keys(copy).sort()).toEqual(Object.keys(members).sort())
  expect(Object.entries(copy).filter(([, value]) => value === undefined)).toEqual([])
})
