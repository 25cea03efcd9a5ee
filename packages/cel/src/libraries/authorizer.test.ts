import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { AUTHORIZER_TYPE, type CelAuthorizationRequest, CelAuthorizerValue } from './authorizer.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries, variables: { authorizer: AUTHORIZER_TYPE } })

function evaluate(source: string): { result: unknown; requests: CelAuthorizationRequest[] } {
  const requests: CelAuthorizationRequest[] = []
  const authorizer = new CelAuthorizerValue({
    authorize(request) {
      requests.push(request)
      return {
        allowed: request.verb === 'get',
        reason: 'because',
        error: request.verb === 'fail' ? 'broken' : undefined,
      }
    },
  })
  return { result: env.compile(source).evaluate({ authorizer }), requests }
}

test('authorizer.path() checks a path outside the API', () => {
  const { result, requests } = evaluate("authorizer.path('/healthz').check('get').allowed()")
  expect(result).toBe(true)
  expect(requests).toEqual([{ serviceAccount: undefined, verb: 'get', path: '/healthz', resource: undefined }])
})

test('authorizer.group() collects the attributes of a resource', () => {
  const { result, requests } = evaluate(
    "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').subresource('scale').namespace('n').name('web').fieldSelector('a=b').labelSelector('c').check('list').allowed()",
  )
  expect(result).toBe(false)
  expect(requests[0]).toEqual({
    serviceAccount: { namespace: 'ns', name: 'sa' },
    verb: 'list',
    path: '',
    resource: {
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'n',
      name: 'web',
      fieldSelector: 'a=b',
      labelSelector: 'c',
    },
  })
})

test('check() returns the reason and the error', () => {
  expect(evaluate("authorizer.path('/x').check('get').reason()").result).toBe('because')
  expect(evaluate("authorizer.path('/x').check('fail').error()").result).toBe('broken')
  expect(evaluate("authorizer.path('/x').check('get').errored()").result).toBe(false)
})

test.each([
  ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
  ["authorizer.group('').resource('').check('get').allowed()", 'resource must not be empty'],
  ["authorizer.serviceAccount('ns', 'UP').path('/x').check('get').allowed()", 'Invalid service account name'],
  ["authorizer.serviceAccount('a.b', 'sa').path('/x').check('get').allowed()", 'Invalid service account namespace'],
])('%s fails', (source, message) => {
  expect(() => evaluate(source)).toThrow(new CelError(message))
})
