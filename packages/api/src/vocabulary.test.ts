import { FieldPath, invalid, required } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as api from './index.ts'

const pods = { group: '', resource: 'pods' }
const deployments = { group: 'apps', resource: 'deployments' }

describe('parseGroupVersion()', () => {
  it.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['apps/', { group: 'apps', version: '' }],
  ])('reads %j', (text, expected) => {
    expect(api.parseGroupVersion(text)).toEqual(expected)
  })

  it('refuses two slashes', () => {
    expect(() => api.parseGroupVersion('a/b/c')).toThrow('unexpected GroupVersion string: a/b/c')
  })
})

it('names of kinds and resources print as in Go', () => {
  expect(api.formatGroupVersionKind({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe(
    'apps/v1, Kind=Deployment',
  )
  expect(api.formatGroupVersionResource({ group: '', version: 'v1', resource: 'pods' })).toBe('/v1, Resource=pods')
  expect(api.parseResourceArg('pods.v1.example.com')).toEqual({
    full: { group: 'example.com', version: 'v1', resource: 'pods' },
    short: { group: 'v1.example.com', resource: 'pods' },
  })
  expect(api.parseKindArg('Pod.core')).toEqual({ short: { group: 'core', kind: 'Pod' } })
  expect(api.gvkOf({ apiVersion: 'a/b/c', kind: 'X' })).toEqual({ group: '', version: '', kind: 'X' })
})

it.each([
  ['Pod', 'pods'],
  ['Ingress', 'ingresses'],
  ['Policy', 'policies'],
  ['Endpoints', 'endpoints'],
  ['', ''],
])('guessPlural(%j) is %j', (kind, plural) => {
  expect(api.guessPlural(kind)).toBe(plural)
})

it('compareVersionPriority() puts stable versions first, then beta, alpha and the rest', () => {
  const versions = ['v1', 'v10beta3', 'v2', 'foo10', 'v11alpha2', 'v12alpha1', 'foo1', 'v10', 'v3beta1', 'v11beta2']
  expect(versions.sort(api.compareVersionPriority)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ])
})

describe('API errors have apimachinery’s texts', () => {
  it.each<[api.ApiError, number, string, string]>([
    [api.newNotFound(pods, 'a'), 404, 'NotFound', 'pods "a" not found'],
    [api.newNotFound(deployments, 'a'), 404, 'NotFound', 'deployments.apps "a" not found'],
    [api.newAlreadyExists(deployments, 'a'), 409, 'AlreadyExists', 'deployments.apps "a" already exists'],
    [
      api.newGenerateNameConflict(pods, 'a-', 1),
      409,
      'AlreadyExists',
      'pods "a-" already exists, the server was not able to generate a unique name for the object',
    ],
    [api.newUnauthorized(''), 401, 'Unauthorized', 'not authorized'],
    [api.newForbidden(pods, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
    [api.newForbidden(pods, 'a', new Error('no')), 403, 'Forbidden', 'pods "a" is forbidden: no'],
    [api.newForbidden({ group: '', resource: '' }, '', 'no'), 403, 'Forbidden', 'forbidden: no'],
    [
      api.newConflict(pods, 'a', 'the object has been modified'),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "a": the object has been modified',
    ],
    [api.newGone('gone'), 410, 'Gone', 'gone'],
    [api.newResourceExpired('too old'), 410, 'Expired', 'too old'],
    [api.newBadRequest('bad'), 400, 'BadRequest', 'bad'],
    [api.newTooManyRequests('slow down', 3), 429, 'TooManyRequests', 'slow down'],
    [api.newTooManyRequestsError('x'), 429, 'TooManyRequests', 'Too many requests: x'],
    [api.newServiceUnavailable('no'), 503, 'ServiceUnavailable', 'no'],
    [
      api.newMethodNotSupported(deployments, 'patch'),
      405,
      'MethodNotAllowed',
      'patch is not supported on resources of kind "deployments.apps"',
    ],
    [
      api.newServerTimeout(pods, 'list', 2),
      500,
      'ServerTimeout',
      'The list operation against pods could not be completed at this time, please try again.',
    ],
    [api.newInternalError(new Error('x')), 500, 'InternalError', 'Internal error occurred: x'],
    [api.newTimeoutError('x', 0), 504, 'Timeout', 'Timeout: x'],
    [api.newTooLargeResourceVersion('9', '5', 1), 504, 'Timeout', 'Timeout: Too large resource version: 9, current: 5'],
    [api.newRequestEntityTooLarge('limit is 3'), 413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3'],
    [
      api.newNotAcceptable(['application/json', 'application/yaml']),
      406,
      'NotAcceptable',
      'only the following media types are accepted: application/json, application/yaml',
    ],
    [
      api.newUnsupportedMediaType(['application/json']),
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json',
    ],
  ])('%s', (error, code, reason, message) => {
    expect([error.statusCode, error.reason, error.message]).toEqual([code, reason, message])
    expect(error.status).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      code,
    })
    expect(api.statusFromJson(JSON.parse(JSON.stringify(error.status)))).toEqual(error.status)
  })

  it('newInvalid() makes a cause of every field error and one text of all', () => {
    const spec = FieldPath.of('spec')
    const errors = [required(spec.child('a')), invalid(spec.child('b'), 1, 'too small'), required(spec.child('a'))]
    const error = api.newInvalid({ group: 'apps', kind: 'Deployment' }, 'x', errors)
    expect(error.message).toBe(
      'Deployment.apps "x" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: too small]',
    )
    expect(error.details).toEqual({
      name: 'x',
      group: 'apps',
      kind: 'Deployment',
      causes: [
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
        { reason: 'FieldValueInvalid', message: 'Invalid value: 1: too small', field: 'spec.b' },
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      ],
    })
    expect(api.newInvalid({ group: '', kind: 'Pod' }, '', []).message).toBe('Pod "" is invalid')
  })

  it.each([
    [
      { code: 404, verb: 'GET', resource: pods, name: 'a' },
      'NotFound',
      'the server could not find the requested resource (get pods a)',
    ],
    [{ code: 409, verb: 'POST', resource: pods }, 'AlreadyExists', 'the server reported a conflict (post pods)'],
    [{ code: 409, verb: 'PUT' }, 'Conflict', 'the server reported a conflict'],
    [
      { code: 418, verb: 'GET' },
      '',
      'the server responded with the status code 418 but did not return more information',
    ],
    [
      { code: 502, verb: 'GET', serverMessage: 'a "b"' },
      'InternalError',
      'an error on the server ("a \\"b\\"") has prevented the request from succeeding',
    ],
    [{ code: 403, verb: 'GET', serverMessage: 'nope' }, 'Forbidden', 'nope'],
    [
      { code: 406, verb: 'GET', serverMessage: 'unknown' },
      'NotAcceptable',
      'the server was unable to respond with a content type that the client supports',
    ],
  ])('newGenericServerResponse(%o)', (facts, reason, message) => {
    const error = api.newGenericServerResponse({ ...facts, isUnexpectedResponse: true })
    expect([error.reason, error.message]).toEqual([reason, message])
    expect(api.isUnexpectedServerError(error)).toBe(true)
  })
})

describe('API error guards', () => {
  it('go by the reason', () => {
    expect(api.isNotFound(api.newNotFound(pods, 'a'))).toBe(true)
    expect(api.isConflict(api.newNotFound(pods, 'a'))).toBe(false)
    expect(api.isAlreadyExists(api.newAlreadyExists(pods, 'a'))).toBe(true)
    expect(api.isConflict(api.newAlreadyExists(pods, 'a'))).toBe(false)
  })

  it('go by the code when the reason is not known', () => {
    const teapot = { kind: 'Status', apiVersion: 'v1', metadata: {}, reason: 'Teapot', code: 404 }
    expect(api.isNotFound(new api.ApiError(api.statusFromJson(teapot)!))).toBe(true)
  })

  it('see through wrapping errors', () => {
    const wrapped = new Error('reading config', { cause: api.newNotFound(pods, 'a') })
    expect([api.isNotFound(wrapped), api.isApiError(wrapped), api.reasonOf(wrapped)]).toEqual([true, false, 'NotFound'])
  })

  it('know errors of another copy of the package', () => {
    const foreign = Object.assign(Object.create({ [Symbol.for('kubewright.api-error')]: true }), {
      reason: 'NotFound',
      statusCode: 404,
    })
    expect(api.isNotFound(foreign)).toBe(true)
  })

  it('say no to anything else', () => {
    for (const value of [undefined, null, 'NotFound', {}, new Error('x')]) expect(api.isNotFound(value)).toBe(false)
  })

  it('suggestedDelaySeconds() tells what the server asks for', () => {
    expect(api.suggestedDelaySeconds(api.newTooManyRequests('x', 7))).toBe(7)
    expect(api.suggestedDelaySeconds(api.newServerTimeout(pods, 'get', 0))).toBe(0)
    expect(api.suggestedDelaySeconds(api.newBadRequest('x'))).toBeUndefined()
  })
})

it('statusFromJson() takes nothing but a Status', () => {
  expect(api.statusFromJson({ kind: 'Pod', apiVersion: 'v1' })).toBeUndefined()
  expect(api.statusFromJson({ kind: 'Status', apiVersion: 'v2' })).toBeUndefined()
  expect(api.statusFromJson({ kind: 'Status', apiVersion: 'meta.k8s.io/v1', message: 3, code: 'x' })).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
  })
})

describe('owner references', () => {
  const owner = {
    apiVersion: 'ajd.example.com/v1',
    kind: 'Home',
    metadata: { name: 'cosy', namespace: 'a', uid: 'u1' },
  }

  it('setControllerReference() adds one controller and updates it', () => {
    const draft = { metadata: { name: 'web', namespace: 'a' } as api.MetaDraft }
    api.setControllerReference(owner, draft)
    api.setControllerReference({ ...owner, apiVersion: 'ajd.example.com/v2' }, draft)
    expect(draft.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'ajd.example.com/v2',
        kind: 'Home',
        name: 'cosy',
        uid: 'u1',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect(api.isControlledBy(draft, owner)).toBe(true)
    expect(api.removeOwnerReference(owner, draft)).toBe(true)
    expect(api.controllerOf(draft)).toBeUndefined()
  })

  it('setControllerReference() refuses a second controller', () => {
    const draft = { metadata: { name: 'web', namespace: 'a' } as api.MetaDraft }
    api.setControllerReference(owner, draft)
    const other = { ...owner, metadata: { ...owner.metadata, name: 'other', uid: 'u2' } }
    expect(() => api.setControllerReference(other, draft)).toThrow(
      'Object a/web is already owned by another Home controller cosy',
    )
    expect(() => api.setControllerReference(other, draft)).toThrow(api.AlreadyOwnedError)
    api.setOwnerReference(other, draft)
    expect(api.isOwnedBy(draft, other)).toBe(true)
    expect(api.controllerOf(draft)?.uid).toBe('u1')
  })

  it('setControllerReference() stays inside the namespace', () => {
    expect(() => api.setControllerReference(owner, { metadata: { name: 'x', namespace: 'b' } })).toThrow(
      "cross-namespace owner references are disallowed, owner's namespace a, obj's namespace b",
    )
    expect(() => api.setControllerReference(owner, { metadata: { name: 'x' } })).toThrow(
      "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace a",
    )
  })
})

describe('metadata helpers', () => {
  it('add and remove finalizers once', () => {
    const draft: { metadata: api.MetaDraft } = { metadata: { name: 'a' } }
    expect([api.addFinalizer(draft, 'x'), api.addFinalizer(draft, 'x'), api.hasFinalizer(draft, 'x')]).toEqual([
      true,
      false,
      true,
    ])
    expect([api.removeFinalizer(draft, 'x'), api.removeFinalizer(draft, 'x')]).toEqual([true, false])
    expect(draft.metadata.finalizers).toEqual([])
  })

  it('read own labels only', () => {
    const draft: { metadata: api.MetaDraft } = { metadata: { name: 'a' } }
    expect([api.setLabel(draft, 'k', 'v'), api.setLabel(draft, 'k', 'v')]).toEqual([true, false])
    expect([api.labelOf(draft, 'k'), api.labelOf(draft, 'toString'), api.annotationOf(draft, 'k')]).toEqual([
      'v',
      undefined,
      undefined,
    ])
    api.setAnnotation(draft, 'n', '1')
    expect(draft.metadata).toEqual({ name: 'a', labels: { k: 'v' }, annotations: { n: '1' } })
    expect(api.generateName('a-', { labels: {} })).toEqual({ name: '', generateName: 'a-', labels: {} })
    expect(api.isDeleting({ metadata: { name: 'a', deletionTimestamp: 'x' } })).toBe(true)
  })

  it('keys name objects', () => {
    expect(api.keyOf({ metadata: { name: 'a', namespace: 'n' } })).toBe('n/a')
    expect(api.keyOf({ metadata: { name: 'a' } })).toBe('a')
    expect(api.parseKey('n/a')).toEqual({ name: 'a', namespace: 'n' })
    expect(api.toNameAndNamespace({ name: 'a', namespace: '' })).toEqual({ name: 'a' })
    expect(() => api.parseKey('a/b/c')).toThrow('unexpected key format: "a/b/c"')
    expect(api.sameObject({ metadata: { name: 'a', namespace: '' } }, { metadata: { name: 'a' } })).toBe(true)
    expect(api.sameObject({ metadata: { name: 'a', namespace: 'n' } }, { metadata: { name: 'a' } })).toBe(false)
  })
})

describe('conditions', () => {
  const at = (second: number): string => api.toTime(second * 1000)

  it('move their time with the status only', () => {
    const first = api.mergeConditions(undefined, [api.condition('Ready', false, 'Waiting')], {
      now: at(1),
      observedGeneration: 1,
    })
    const second = api.mergeConditions(first, [api.condition('Ready', false, 'Still', 'yes')], {
      now: at(2),
      observedGeneration: 2,
    })
    const third = api.mergeConditions(second, [api.condition('Ready', true, 'Done')], {
      now: at(3),
      observedGeneration: 2,
    })
    expect([...first, ...second, ...third]).toEqual([
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 1,
        lastTransitionTime: at(1),
        reason: 'Waiting',
        message: '',
      },
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 2,
        lastTransitionTime: at(1),
        reason: 'Still',
        message: 'yes',
      },
      { type: 'Ready', status: 'True', observedGeneration: 2, lastTransitionTime: at(3), reason: 'Done', message: '' },
    ])
    expect(
      api.mergeConditions(third, [api.condition('Ready', true, 'Done')], { now: at(9), observedGeneration: 2 }),
    ).toBe(third)
  })

  it('keep those of other types', () => {
    const options = { now: at(1) }
    const both = api.mergeConditions<string>(
      [],
      [api.condition('A', true, 'X'), api.condition('B', 'Unknown', 'Y')],
      options,
    )
    expect(both.map((c) => [c.type, c.status])).toEqual([
      ['A', 'True'],
      ['B', 'Unknown'],
    ])
    expect(api.removeCondition(both, 'A').map((c) => c.type)).toEqual(['B'])
    expect(api.removeCondition(both, 'C')).toBe(both)
    expect(api.isConditionTrue({ status: { conditions: both } }, 'A')).toBe(true)
    expect(api.isConditionFalse({ status: { conditions: both } }, 'C')).toBe(false)
    expect(api.isConditionTrue({}, 'A')).toBe(false)
  })
})

describe('scaledValue()', () => {
  it.each<[number | string, number, boolean, number]>([
    [3, 100, true, 3],
    ['25%', 10, true, 3],
    ['25%', 10, false, 2],
    ['-1%', 100, true, -1],
    ['0%', 7, true, 0],
  ])('%j of %d', (value, total, roundUp, expected) => {
    expect(api.scaledValue(value, total, roundUp)).toBe(expected)
  })

  it.each([
    ['5', 'invalid value for IntOrString: invalid type: string is not a percentage'],
    ['x%', 'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'],
    [undefined, 'nil value for IntOrString'],
  ])('refuses %j', (value, message) => {
    expect(() => api.scaledValue(value, 1, true)).toThrow(message)
  })

  it('parseIntOrString() and intValue() read what they can', () => {
    expect(['80', 'http', '2147483648', '-1'].map(api.parseIntOrString)).toEqual([80, 'http', '2147483648', -1])
    expect([5, '6', 'x'].map(api.intValue)).toEqual([5, 6, 0])
  })
})

describe('resource versions', () => {
  it('compare as numbers of any length', () => {
    const version = fc.bigInt({ min: 1n, max: 2n ** 200n })
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(api.compareResourceVersions(`${a}`, `${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })

  it.each(['', '0', '01', '-1', 'a', '1.0'])('compareResourceVersions() refuses %j', (version) => {
    expect(() => api.compareResourceVersions(version, '1')).toThrow(`resource version is not well formed: ${version}`)
    expect(api.isComparableResourceVersion(version)).toBe(false)
  })

  it('parseResourceVersion() fails as strconv.ParseUint does', () => {
    expect(['', '0', '007', '12'].map(api.parseResourceVersion)).toEqual(['0', '0', '7', '12'])
    expect(() => api.parseResourceVersion('-1')).toThrow('strconv.ParseUint: parsing "-1": invalid syntax')
    expect(() => api.parseResourceVersion('18446744073709551616')).toThrow(
      'strconv.ParseUint: parsing "18446744073709551616": value out of range',
    )
  })
})

it('times convert both ways', () => {
  expect(api.toTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20Z')
  expect(api.toMicroTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20.999000Z')
  expect(api.fromTime('2023-11-14T22:13:20.5Z')).toBe(1_700_000_000_500)
})

describe('Scheme', () => {
  const make = (group: string, version: string, kind: string, shortNames: string[] = []): api.AnyKind =>
    api.createKind({
      group,
      version,
      kind,
      plural: api.guessPlural(kind),
      shortNames,
      schema: () => ({ type: 'object' }),
    })
  const [pod, deploy, old] = [
    make('', 'v1', 'Pod', ['po']),
    make('apps', 'v1', 'Deployment', ['deploy']),
    make('apps', 'v1beta1', 'Deployment'),
  ]
  const scheme = new api.Scheme([pod, old, deploy], { name: 'test' })

  it('finds kinds by every name', () => {
    expect(scheme.kindOf({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(deploy)
    expect(scheme.kindOf({ apiVersion: 'v1', kind: 'Pod' })).toBe(pod)
    expect(scheme.forResource({ group: 'apps', version: 'v1beta1', resource: 'deployments' })).toBe(old)
    expect(scheme.versionsOf('apps', 'Deployment')).toEqual(['v1', 'v1beta1'])
    expect(['po', 'PODS', 'pod', 'deployment.apps', 'nosuch'].map((word) => scheme.match(word))).toEqual([
      [pod],
      [pod],
      [pod],
      [deploy],
      [],
    ])
    expect(scheme.kinds('apps')).toEqual([old, deploy])
  })

  it('fails as runtime.Scheme does', () => {
    expect(() => scheme.kindOf({ apiVersion: 'apps/v2', kind: 'Deployment' })).toThrow(
      'no kind "Deployment" is registered for version "apps/v2" in scheme "test"',
    )
    expect(() => scheme.get({ group: '', version: 'v9', kind: '' })).toThrow(
      'no version "v9" has been registered in scheme "test"',
    )
    expect(() => scheme.forResource({ group: '', version: 'v1', resource: 'x' })).toThrow(
      'no matches for /v1, Resource=x',
    )
    expect(scheme.register(pod)).toBe(scheme)
    expect(() => scheme.register(make('', 'v1', 'Pod'))).toThrow(
      'Double registration of different types for /v1, Kind=Pod',
    )
  })

  it('createKind() resolves the schema once, when it is read', () => {
    let calls = 0
    const kind = api.createKind({
      group: '',
      version: 'v1',
      kind: 'X',
      plural: 'xs',
      schema: () => ({ title: `${++calls}` }),
    })
    expect([calls, kind.schema, kind.schema, calls]).toEqual([0, { title: '1' }, { title: '1' }, 1])
    expect([api.isKind(kind), api.isKind(() => 1), api.isKind({})]).toEqual([true, false, false])
  })
})
