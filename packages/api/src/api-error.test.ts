import { FieldPath, invalid, required } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

const pods = { group: '', resource: 'pods' }

const deployments = { group: 'apps', resource: 'deployments' }

describe('API error constructors produce the Status of apimachinery', () => {
  test.each<[api.ApiError, number, string, string]>([
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

  test('newInvalid() limits the number and the length of errors', () => {
    const kind = { group: '', kind: 'Pod' }
    const some = Array.from({ length: 10_001 }, (_, i) => required(FieldPath.of('a').index(i)))
    expect(api.newInvalid(kind, 'x', some).causes).toHaveLength(10_000)
    const long = Array.from({ length: 10 }, (_, i) => invalid(FieldPath.of('a').index(i), 'x'.repeat(600_000), ''))
    expect(api.newInvalid(kind, 'x', long).causes).toHaveLength(2)
    expect(api.newInvalid(kind, 'x', long.slice(0, 1)).causes).toHaveLength(1)
  })

  test('newInvalid() adds a cause for each field error and combines their messages', () => {
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

  test.each([
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
  test('match the reason', () => {
    expect(api.isNotFound(api.newNotFound(pods, 'a'))).toBe(true)
    expect(api.isConflict(api.newNotFound(pods, 'a'))).toBe(false)
    expect(api.isAlreadyExists(api.newAlreadyExists(pods, 'a'))).toBe(true)
    expect(api.isConflict(api.newAlreadyExists(pods, 'a'))).toBe(false)
  })

  test('match the status code when the reason is unknown', () => {
    const teapot = { kind: 'Status', apiVersion: 'v1', metadata: {}, reason: 'Teapot', code: 404 }
    expect(api.isNotFound(new api.ApiError(api.statusFromJson(teapot)!))).toBe(true)
  })

  test('match an API error in the chain of causes', () => {
    const wrapped = new Error('reading config', { cause: api.newNotFound(pods, 'a') })
    expect([api.isNotFound(wrapped), api.isApiError(wrapped), api.reasonOf(wrapped)]).toEqual([true, false, 'NotFound'])
  })

  test('match errors of another copy of the package', () => {
    const foreign = Object.assign(Object.create({ [Symbol.for('kubewright.api-error')]: true }), {
      reason: 'NotFound',
      statusCode: 404,
    })
    expect(api.isNotFound(foreign)).toBe(true)
  })

  test('do not match other values', () => {
    for (const value of [undefined, null, 'NotFound', {}, new Error('x')]) expect(api.isNotFound(value)).toBe(false)
  })

  test('suggestedDelaySeconds() returns the delay that the server suggests', () => {
    expect(api.suggestedDelaySeconds(api.newTooManyRequests('x', 7))).toBe(7)
    expect(api.suggestedDelaySeconds(api.newServerTimeout(pods, 'get', 0))).toBe(0)
    expect(api.suggestedDelaySeconds(api.newBadRequest('x'))).toBeUndefined()
  })
})

test('statusFromJson() returns undefined for anything but a Status', () => {
  expect(api.statusFromJson({ kind: 'Pod', apiVersion: 'v1' })).toBeUndefined()
  expect(api.statusFromJson({ kind: 'Status', apiVersion: 'v2' })).toBeUndefined()
  expect(api.statusFromJson({ kind: 'Status', apiVersion: 'meta.k8s.io/v1', message: 3, code: 'x' })).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
  })
})
