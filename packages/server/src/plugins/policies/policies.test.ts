import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Authorizer } from '../../auth/authorizer.ts'
import type { PlainAnswer } from '../../testdata/plain-server.ts'
import { WebhookServer } from '../../testdata/webhook-server.ts'
import { startPolicyTypeChecking } from './policy-status.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }

/** Allows everyone to get pods, and the service account `ok` everything. */
const authorizer: Authorizer = {
  authorize: async ({ user, verb, resource, path }) => {
    await Promise.resolve()
    const allowed = user.name === 'system:serviceaccount:test:ok' || (verb === 'get' && resource === 'pods')
    return { allowed: allowed || path === '/metrics', reason: allowed ? 'fine' : '' }
  },
}

describe('ValidatingAdmissionPolicy', () => {
  let server: WebhookServer

  beforeAll(async () => {
    server = await WebhookServer.start('in-process', authorizer)
    await server.create('limits', { data: { max: '1' }, metadata: { name: 'limits', labels: { limits: 'yes' } } })
  })
  afterAll(() => server[Symbol.asyncDispose]())
  afterEach(async () => {
    await server.send(`DELETE ${registration}/validatingadmissionpolicies`)
    await server.send(`DELETE ${registration}/validatingadmissionpolicybindings`)
  })

  const put = async (plural: string, name: string, spec: object): Promise<void> => {
    const answer = await server.send(`POST ${registration}/${plural}`, { metadata: { name }, spec })
    if (answer.status !== 201) throw new Error(answer.text)
  }
  const policy = (name: string, spec: object): Promise<void> =>
    put('validatingadmissionpolicies', name, { matchConstraints: { resourceRules: [rule] }, ...spec })
  const bind = (name: string, policyName: string, spec: object = {}): Promise<void> =>
    put('validatingadmissionpolicybindings', name, { policyName, validationActions: ['Deny'], ...spec })
  const tryOut = (name: string, more: object = {}): Promise<PlainAnswer> =>
    server.send('POST /api/v1/namespaces/test/configmaps?dryRun=All', { metadata: { name }, ...more })
  /** Creates a policy with these validations and one binding, then a ConfigMap; returns the message. */
  const verdict = async (spec: object, more: object = {}, binding: object = {}): Promise<string> => {
    await policy('p', spec)
    await bind('b', 'p', binding)
    const { status, body } = await tryOut('x', more)
    const prefix = `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
    return status === 201 ? 'admitted' : String(body.message).replace(prefix, '')
  }

  test('denies with the reason and message of the first failure', async () => {
    const validations = [
      { expression: 'true' },
      { expression: 'false', message: 'one', reason: 'Forbidden' },
      { expression: 'false', message: 'two' },
    ]
    await policy('p', { validations })
    await bind('b', 'p')
    const message = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: one`
    expect((await tryOut('x')).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `configmaps "x" is forbidden: ${message}`,
      reason: 'Forbidden',
      details: { name: 'x', kind: 'configmaps', causes: [{ message }] },
      code: 403,
    })
  })

  test.each<[string, object, string]>([
    ['the expression', { expression: ' size(object.data) > 3 ' }, 'failed expression: size(object.data) > 3'],
    ['a message', { expression: 'false', message: ' no ' }, 'no'],
    [
      'the result of a message expression',
      { expression: 'false', messageExpression: "'not ' + object.metadata.name" },
      'not x',
    ],
    [
      'the message when the message expression fails',
      { expression: 'false', message: 'm', messageExpression: 'string(object.no.such)' },
      'm',
    ],
    [
      'the message when the message expression returns several lines',
      { expression: 'false', message: 'm', messageExpression: "'a\\nb'" },
      'm',
    ],
    [
      'the error of an expression',
      { expression: "object.data['no'] == ''" },
      "expression 'object.data['no'] == ''' resulted in error: no such key: no",
    ],
    [
      'an exceeded cost limit',
      {
        expression:
          '[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f > 0))))))',
      },
      'resulted in error: operation cancelled: actual cost limit exceeded',
    ],
  ])('reports %s', async (_, validation, text) => {
    expect(await verdict({ validations: [validation] }, { data: { k: 'v' } })).toContain(text)
  })

  test('ignores errors but not denials with failure policy Ignore', async () => {
    const validations = [{ expression: "object.data['no'] == ''" }]
    expect(await verdict({ validations, failurePolicy: 'Ignore' }, { data: {} })).toBe('admitted')
    await policy('q', { validations: [{ expression: 'false' }], failurePolicy: 'Ignore' })
    await bind('c', 'q')
    expect((await tryOut('x')).status).toBe(422)
  })

  test('evaluates variables once, on first use', async () => {
    const variables = [
      { name: 'bad', expression: 'object.no.such' },
      { name: 'keys', expression: 'size(object.data)' },
      { name: 'twice', expression: 'variables.keys * 2' },
    ]
    const spec = {
      variables,
      validations: [{ expression: 'variables.twice < 4', messageExpression: 'string(variables.twice)' }],
    }
    expect(await verdict(spec, { data: { a: '', b: '' } })).toBe('4')
    await server.send(`DELETE ${registration}/validatingadmissionpolicies/p`)
    await policy('p', { variables, validations: [{ expression: 'variables.bad == 1' }] })
    expect((await tryOut('x')).body.message).toContain(
      `resulted in error: composited variable "bad" fails to evaluate: no such key: no`,
    )
  })

  test('accepts null as the value of a variable', async () => {
    const variables = [{ name: 'none', expression: "'a' == 'b' ? dyn(1) : dyn(null)" }]
    expect(await verdict({ variables, validations: [{ expression: 'variables.none == null' }] })).toBe('admitted')
  })

  test.each<[string, string]>([
    ["authorizer.group('').resource('pods').namespace('test').check('get').allowed()", 'admitted'],
    ["authorizer.group('').resource('pods').check('delete').allowed()", 'failed expression'],
    ["authorizer.path('/metrics').check('get').allowed()", 'admitted'],
    [
      "authorizer.serviceAccount('test', 'ok').group('').resource('pods').check('delete').reason() == 'fine'",
      'admitted',
    ],
    ["!authorizer.requestResource.check('impersonate').allowed()", 'admitted'],
    [
      "authorizer.group('').resource('pods').check('delete').allowed() || authorizer.group('').resource('pods').check('get').allowed()",
      'admitted',
    ],
  ])('waits for the authorizer: %s', async (expression, expected) => {
    const variables = [{ name: 'may', expression }]
    expect(await verdict({ variables, validations: [{ expression: 'variables.may' }] })).toContain(expected)
  })

  test('provides the namespace of the request, or null', async () => {
    const rules = [rule, { apiGroups: [''], apiVersions: ['v1'], resources: ['nodes'], operations: ['CREATE'] }]
    const expression = "namespaceObject == null || namespaceObject.metadata.labels['env'] != 'test'"
    const spec = { matchConstraints: { resourceRules: rules }, validations: [{ expression, message: 'in test' }] }
    expect(await verdict(spec)).toBe('in test')
    expect((await server.send('POST /api/v1/nodes?dryRun=All', { metadata: { name: 'n' } })).status).toBe(201)
  })

  describe('with parameters', () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [
        { expression: 'size(object.data) <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" },
      ],
    }
    const data = { data: { a: '', b: '' } }
    test.each<[string, object, string]>([
      ['by name', { name: 'limits', parameterNotFoundAction: 'Deny' }, 'at most 1'],
      ['by label', { selector: { matchLabels: { limits: 'yes' } }, parameterNotFoundAction: 'Deny' }, 'at most 1'],
      ['in another namespace', { name: 'limits', namespace: 'other', parameterNotFoundAction: 'Allow' }, 'admitted'],
      [
        'that are missing but required',
        { name: 'none', parameterNotFoundAction: 'Deny' },
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      ],
    ])('%s', async (_, paramRef, expected) => {
      expect(await verdict(spec, data, { paramRef })).toBe(expected)
    })

    test('denies when the parameter kind is not served', async () => {
      const paramKind = { apiVersion: 'example.com/v1', kind: 'Odd' }
      expect(
        await verdict({ ...spec, paramKind }, data, { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } }),
      ).toBe(
        `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Odd'`,
      )
    })
  })

  test('warns and audits by the actions of the binding', async () => {
    await policy('p', {
      validations: [{ expression: 'false', message: 'hm' }],
      auditAnnotations: [
        { key: 'who', valueExpression: "'the ' + object.metadata.name" },
        { key: 'none', valueExpression: 'null' },
      ],
    })
    await bind('b', 'p', { validationActions: ['Warn', 'Audit'] })
    const answer = await tryOut('x')
    expect(answer.status).toBe(201)
    expect(answer.headers['warning']).toEqual([
      `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': hm"`,
    ])
    expect(server.audit).toEqual({
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"hm","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]',
      'p/who': 'the x',
    })
  })

  test('applies to requests that policy and binding match, and to none without a binding', async () => {
    await policy('p', {
      validations: [{ expression: 'false' }],
      matchConditions: [{ name: 'c', expression: "object.metadata.name != 'free'" }],
    })
    expect((await tryOut('x')).status).toBe(201)
    await bind('b', 'p', {
      matchResources: { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['spared'] }] },
    })
    expect((await tryOut('x')).status).toBe(422)
    expect((await tryOut('spared')).status).toBe(201)
    expect((await tryOut('free')).status).toBe(201)
  })

  test('is type-checked against the kinds that it matches', async () => {
    const checking = await startPolicyTypeChecking(server.plain.server.parts)
    try {
      await policy('p', {
        matchConstraints: { resourceRules: [{ ...rule, apiGroups: ['apps'], resources: ['deployments'] }] },
        variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
        validations: [{ expression: "variables.replicas == 'five'" }, { expression: 'object.spec.replicas > 1' }],
      })
      const { feed } = server.plain.server.parts.registry
      let object: PlainAnswer['body']
      for (;;) {
        const changed = feed.changed()
        object = (await server.send(`GET ${registration}/validatingadmissionpolicies/p`)).body
        if (object.status?.observedGeneration) break
        await changed
      }
      expect(object.status).toEqual({
        observedGeneration: 1,
        typeChecking: {
          expressionWarnings: [
            {
              fieldRef: 'spec.validations[0].expression',
              warning:
                "apps/v1, Kind=Deployment: ERROR: <input>:1:20: found no matching overload for '_==_' applied to '(int, string)'\n" +
                " | variables.replicas == 'five'\n | ...................^\n",
            },
          ],
        },
      })
    } finally {
      await checking[Symbol.asyncDispose]()
    }
  })
})
