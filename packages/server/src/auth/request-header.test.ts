import type { ApiRequest } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { remoteUserHeaders } from '../aggregation/front-proxy.ts'
import type { UserInfo } from '../request/user-info.ts'
import { requestHeaders } from './request-header.ts'

const proxy = { commonName: 'front-proxy-client', organizations: [] }
const authenticate = requestHeaders({ allowedNames: ['front-proxy-client'] })

function request(raw: readonly string[], certificate?: typeof proxy): ApiRequest {
  return {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    rawHeaders: raw,
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    peer: { address: '', ...(certificate ? { certificate } : {}) },
  }
}

describe('requestHeaders()', () => {
  test.each<[UserInfo]>([
    [{ name: 'jane', groups: ['a', 'system:authenticated'] }],
    [{ name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    [{ name: '山田', uid: '7', groups: ['a, b', 'system:authenticated'], extra: { 'example.com/käy%': ['1', '2'] } }],
  ])('reads the user from the headers of the proxy: %o', async (user) => {
    const raw = Object.entries(remoteUserHeaders(user)).flatMap(([name, values]) =>
      [values].flat().flatMap((value) => [name, value as string]),
    )
    expect(await authenticate(request(raw, proxy))).toEqual(user)
  })

  test('authenticates no one without the certificate of the proxy or without a user name', async () => {
    const raw = ['X-Remote-User', 'jane']
    expect(await authenticate(request(raw))).toBeUndefined()
    expect(await authenticate(request(raw, { ...proxy, commonName: 'jane' }))).toBeUndefined()
    expect(await authenticate(request(['X-Remote-Group', 'a'], proxy))).toBeUndefined()
  })

  test('reads the configured headers', async () => {
    const own = requestHeaders({ allowedNames: ['front-proxy-client'], usernameHeaders: ['X-User', 'X-Name'] })
    expect(await own(request(['X-Name', 'jane'], proxy))).toMatchObject({ name: 'jane' })
  })

  test('requires allowedNames', () => {
    expect(() => requestHeaders({ allowedNames: [] })).toThrow(/allowedNames must list/)
  })
})
