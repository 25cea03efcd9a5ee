import { KubewrightError, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { parseAuthorizationConfig } from '../../config/authorization-config.ts'
import { OutgoingError, type OutgoingRequest } from '../../outgoing/outgoing.ts'
import { AuthorizationChain } from '../authorization-chain.ts'
import { alwaysAllow, alwaysDeny } from '../authorization-modes.ts'
import { type Authorizer, resourceAttributes } from '../authorizer.ts'

const webhookWith = (more: object = {}, name = 'hook'): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/kubeconfig' },
    ...more,
  },
})

const configOf = (...authorizers: readonly object[]): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers,
})

const user = { name: 'jane', groups: ['dev'], uid: '7', extra: { k: ['v'] } }
const about = { verb: 'get', group: 'apps', resource: 'deployments', version: 'v1', namespace: 'n', name: 'x' }

/** A chain whose webhook answers with `status`, which tests may replace. */
const setUp = (...authorizers: readonly object[]) => {
  const requests: { request: OutgoingRequest; review: Record<string, unknown> }[] = []
  const clock = new VirtualClock()
  const hook: { status: object; code: number; isDown: boolean } = { status: {}, code: 200, isDown: false }
  const chain = new AuthorizationChain(parseAuthorizationConfig(configOf(...authorizers)), {
    clock,
    connect: (file) => async () => ({
      url: 'https://hook.example.com/authorize',
      tls: { ca: 'CA' },
      headers: { authorization: `Bearer ${file}` },
    }),
    outgoing: async (request) => {
      const review = JSON.parse(Buffer.from(request.body!).toString()) as Record<string, unknown>
      requests.push({ request, review })
      if (hook.isDown) throw new OutgoingError('dial tcp: connect: connection refused')
      const answer = JSON.stringify({ kind: 'SubjectAccessReview', status: hook.status })
      return {
        status: hook.code,
        headers: { 'content-type': ['application/json'] },
        body: (async function* () {
          yield Buffer.from(answer)
        })(),
      }
    },
  })
  const authorizer: Authorizer = chain.attach({ rbac: alwaysAllow, node: alwaysDeny })
  const authorize = (more: object = {}) => authorizer.authorize(resourceAttributes(user, { ...about, ...more }))
  return { requests, clock, hook, chain, authorizer, authorize }
}

describe('WebhookAuthorizer', () => {
  test('sends the review of kube-apiserver with the credentials of the kubeconfig', async () => {
    const { requests, hook, authorize } = setUp(webhookWith())
    hook.status = { allowed: true, reason: 'ok' }
    const selectors = { fields: 'a=b,c!=d', labels: 'e in (f,g),h,!i' }
    expect(await authorize({ verb: 'list', name: '', selectors })).toEqual({ allowed: true, reason: 'ok' })
    const { request } = requests[0]!
    expect(request.url.href).toBe('https://hook.example.com/authorize?timeout=3s')
    expect(request).toMatchObject({ tls: { ca: 'CA' }, headers: { authorization: 'Bearer /kubeconfig' } })
    expect(Buffer.from(request.body!).toString()).toBe(
      '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":' +
        '{"namespace":"n","verb":"list","group":"apps","version":"v1","resource":"deployments","fieldSelector":{"requirements":' +
        '[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"NotIn","values":["d"]}]},"labelSelector":{"requirements":' +
        '[{"key":"e","operator":"In","values":["f","g"]},{"key":"h","operator":"Exists"},{"key":"i","operator":"DoesNotExist"}]}},' +
        '"user":"jane","groups":["dev"],"extra":{"k":["v"]},"uid":"7"},"status":{"allowed":false}}\n',
    )
  })

  test('names groups "group" in version v1beta1', async () => {
    const { requests, authorize } = setUp(webhookWith({ subjectAccessReviewVersion: 'v1beta1' }))
    await authorize()
    expect(requests[0]!.review).toMatchObject({ apiVersion: 'authorization.k8s.io/v1beta1', spec: { group: ['dev'] } })
  })

  test('lets the next authorizer decide unless the webhook allows or denies', async () => {
    const { hook, authorize } = setUp(webhookWith({ cacheUnauthorizedRequests: false }), { type: 'RBAC', name: 'rbac' })
    expect(await authorize()).toMatchObject({ allowed: true })
    hook.status = { denied: true, reason: 'no' }
    expect(await authorize()).toEqual({ allowed: false, denied: true, reason: 'no' })
    hook.status = { allowed: true, denied: true }
    expect(await authorize()).toMatchObject({
      allowed: false,
      denied: true,
      error: 'webhook subject access review returned both allow and deny response',
    })
  })

  test('applies the failure policy when the webhook is down', async () => {
    const open = setUp(webhookWith(), { type: 'AlwaysDeny', name: 'alwaysdeny' })
    open.hook.isDown = true
    const error = 'Post "https://hook.example.com/authorize?timeout=3s": dial tcp: connect: connection refused'
    expect(await open.authorize()).toEqual({ allowed: false, reason: 'Everything is forbidden.', error })
    const closed = setUp(webhookWith({ failurePolicy: 'Deny' }), { type: 'RBAC', name: 'rbac' })
    closed.hook.isDown = true
    expect(await closed.authorize()).toEqual({ allowed: false, denied: true, reason: '', error })
  })

  test('retries a webhook that fails with 500, five times in all', async () => {
    const { requests, clock, hook, authorize } = setUp(webhookWith())
    hook.code = 500
    const decision = authorize()
    await clock.advance('1m')
    expect(await decision).toMatchObject({ allowed: false, error: expect.stringContaining('') })
    expect(requests).toHaveLength(5)
  })

  test('caches decisions for their time', async () => {
    const { requests, clock, hook, authorize } = setUp(webhookWith({ authorizedTTL: '1m', unauthorizedTTL: '10s' }))
    await authorize()
    await authorize()
    expect(requests).toHaveLength(1)
    await clock.advance('10s')
    hook.status = { allowed: true }
    expect(await authorize()).toMatchObject({ allowed: true })
    hook.status = {}
    await clock.advance('59s')
    expect(await authorize()).toMatchObject({ allowed: true })
    await clock.advance('1s')
    expect(await authorize()).toMatchObject({ allowed: false })
    expect(requests).toHaveLength(3)
    await authorize({ name: 'y' })
    expect(requests).toHaveLength(4)
  })

  test('calls the webhook only for requests that match all conditions', async () => {
    const conditions = (...expressions: string[]) => expressions.map((expression) => ({ expression }))
    const attributes = 'has(request.resourceAttributes) && request.resourceAttributes'
    const { requests, authorize } = setUp(
      webhookWith({ matchConditions: conditions(`${attributes}.namespace == 'n'`, `'dev' in request.groups`) }),
    )
    expect(await authorize({ namespace: 'other' })).toEqual({ allowed: false, reason: '' })
    expect(requests).toHaveLength(0)
    await authorize()
    expect(requests).toHaveLength(1)
    const failing = setUp(
      webhookWith({ failurePolicy: 'Deny', matchConditions: conditions(`request.nonResourceAttributes.path == '/'`) }),
    )
    expect(await failing.authorize()).toMatchObject({
      denied: true,
      error: expect.stringContaining('cel evaluation error: expression'),
    })
  })

  test('AuthorizationChain.update() replaces the webhooks', async () => {
    const { chain, hook, authorize } = setUp(webhookWith(), { type: 'RBAC', name: 'rbac' })
    hook.status = { denied: true }
    expect(await authorize()).toMatchObject({ allowed: false })
    chain.update(parseAuthorizationConfig(configOf({ type: 'RBAC', name: 'rbac' })))
    expect(await authorize()).toMatchObject({ allowed: true })
  })
})

describe('parseAuthorizationConfig()', () => {
  test.each([
    ['no authorizers', configOf(), 'authorizers: Required value: at least one authorization mode must be defined'],
    [
      'an unknown type',
      configOf({ type: 'X', name: 'x' }),
      'authorizers[0].type: Unsupported value: "X": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
    ],
    [
      'two of a type',
      configOf({ type: 'RBAC', name: 'rbac' }, { type: 'RBAC', name: 'other' }),
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    ['another name', configOf({ type: 'RBAC', name: 'x' }), 'expected name rbac for authorizer RBAC instead of x'],
    [
      'an empty webhook',
      configOf({ type: 'Webhook', name: 'x', webhook: {} }),
      '[authorizers[0].timeout: Required value, authorizers[0].subjectAccessReviewVersion: Required value, ' +
        'authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.type: Required value]',
    ],
    [
      'wrong values of a webhook',
      configOf(
        webhookWith({
          timeout: '31s',
          failurePolicy: 'X',
          connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'relative' },
          matchConditions: [{ expression: ' ' }, { expression: 'request.user' }],
        }),
      ),
      '[authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s, ' +
        'authorizers[0].failurePolicy: Unsupported value: "X": supported values: "NoOpinion", "Deny", ' +
        'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "relative": must be an absolute path, ' +
        'authorizers[0].matchConditions[0].expression: Required value, ' +
        'authorizers[0].matchConditions[1].expression: Invalid value: "request.user": must evaluate to bool but got string]',
    ],
    ['unknown fields', { ...configOf(webhookWith()), x: 1 }, 'strict decoding error: unknown field "x"'],
  ])('refuses %s with the text of kube-apiserver', (_, config, message) => {
    expect(() => parseAuthorizationConfig(config)).toThrow(new KubewrightError('KW_SERVER_CONFIG', message))
  })

  test('requires the types that the server started with', () => {
    const config = configOf({ type: 'RBAC', name: 'rbac' })
    expect(() => parseAuthorizationConfig(config, ['Node', 'RBAC'])).toThrow('missing required types: [Node]')
  })
})
