import { expect, test } from 'vitest'
import { rewriteLocation } from './rewrite-location.ts'

const route = {
  backend: { scheme: 'http', host: '10.1.2.3', port: 8080 },
  host: 'api.example.com:6443',
  prefix: '/api/v1/namespaces/a/pods/p/proxy',
} as const

test.each([
  ['/login?next=1', '/api/v1/namespaces/a/pods/p/proxy/login?next=1'],
  ['http://10.1.2.3:8080/x/', '/api/v1/namespaces/a/pods/p/proxy/x/'],
  ['https://api.example.com:6443/x#y', 'https://api.example.com:6443/api/v1/namespaces/a/pods/p/proxy/x#y'],
  ['/api/v1/namespaces/a/pods/p/proxy/x', '/api/v1/namespaces/a/pods/p/proxy/x'],
  ['http://elsewhere.example.com/x', 'http://elsewhere.example.com/x'],
  ['sibling', 'sibling'],
])('rewriteLocation(%s)', (location, expected) => {
  expect(rewriteLocation(location, route)).toBe(expected)
})
