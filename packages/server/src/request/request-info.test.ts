import { describe, expect, test } from 'vitest'
import { requestInfoOf } from './request-info.ts'

const infoOf = (method: string, path: string, query = '') => requestInfoOf(method, path, new URLSearchParams(query))

describe('requestInfoOf()', () => {
  test.each([
    ['/api/v1/namespaces/a/pods/b', { verb: 'get', namespace: 'a', resource: 'pods', name: 'b' }],
    ['//api/v1/namespaces/a/pods//', { verb: 'list', namespace: 'a', resource: 'pods', name: '' }],
    ['/api/v1/namespaces/a%2Fpods/b%20c', { verb: 'get', namespace: 'a', resource: 'pods', name: 'b c' }],
    ['/apis/apps/v1/deployments', { verb: 'list', group: 'apps', version: 'v1', resource: 'deployments' }],
    ['/api/v1/watch/nodes', { verb: 'watch', resource: 'nodes' }],
    ['/api/v1/proxy/nodes/n/x', { verb: 'proxy', resource: 'nodes', name: 'n', subresource: '' }],
    ['/api/v1/namespaces/a/status', { namespace: 'a', resource: 'namespaces', name: 'a', subresource: 'status' }],
  ])('parses %s', (path, expected) => {
    expect(infoOf('GET', path)).toMatchObject({ isResource: true, ...expected })
  })

  test.each(['/', '///', '', '/api', '/apis/apps/v1', '/healthz/'])('reports no resource for %j', (path) => {
    expect(infoOf('GET', path)).toMatchObject({ isResource: false, path, verb: 'get' })
  })

  test.each([
    ['watch=1', 'watch'],
    ['watch=', 'watch'],
    ['watch=0', 'list'],
    ['watch=False', 'list'],
  ])('parses ?%s as a %s', (query, verb) => {
    expect(infoOf('GET', '/api/v1/pods', query)).toMatchObject({ verb })
  })

  test('throws a URIError for an invalid percent encoding', () => {
    expect(() => infoOf('GET', '/api/%zz')).toThrow(URIError)
  })
})
