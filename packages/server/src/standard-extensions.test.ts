import { expect, test } from 'vitest'
import { standardExtensions } from './standard-extensions.ts'
import { PlainServer } from './testdata/plain-server.ts'

test('standardExtensions() makes the server ready and lists its checks', async () => {
  await using server = await PlainServer.start([], standardExtensions)
  const { status, text } = await server.send('GET /readyz?verbose')
  expect(status).toBe(200)
  // The response of kube-apiserver v1.35.8 without the hooks that have no counterpart here.
  expect(text).toBe(`[+]ping ok
[+]log ok
[+]etcd ok
[+]etcd-readiness ok
[+]informer-sync ok
[+]poststarthook/start-apiserver-admission-initializer ok
[+]poststarthook/generic-apiserver-start-informers ok
[+]poststarthook/priority-and-fairness-config-consumer ok
[+]poststarthook/priority-and-fairness-filter ok
[+]poststarthook/storage-object-count-tracker-hook ok
[+]poststarthook/start-apiextensions-informers ok
[+]poststarthook/start-apiextensions-controllers ok
[+]poststarthook/crd-informer-synced ok
[+]poststarthook/start-system-namespaces-controller ok
[+]poststarthook/start-cluster-authentication-info-controller ok
[+]poststarthook/start-legacy-token-tracking-controller ok
[+]poststarthook/start-service-ip-repair-controllers ok
[+]poststarthook/rbac/bootstrap-roles ok
[+]poststarthook/scheduling/bootstrap-system-priority-classes ok
[+]poststarthook/priority-and-fairness-config-producer ok
[+]poststarthook/bootstrap-controller ok
[+]poststarthook/start-kubernetes-service-cidr-controller ok
[+]poststarthook/start-kube-aggregator-informers ok
[+]poststarthook/apiservice-status-local-available-controller ok
[+]poststarthook/apiservice-status-remote-available-controller ok
[+]poststarthook/apiservice-registration-controller ok
[+]poststarthook/apiservice-discovery-controller ok
[+]poststarthook/kube-apiserver-autoregistration ok
[+]autoregister-completion ok
[+]poststarthook/apiservice-openapi-controller ok
[+]poststarthook/apiservice-openapiv3-controller ok
[+]shutdown ok
readyz check passed
`)
  expect((await server.send('GET /livez/poststarthook/rbac/bootstrap-roles')).text).toBe('ok')
})

test('standardExtensions() serves any number of requests without limits of requests in flight', async () => {
  const inFlight = { readOnly: Number.POSITIVE_INFINITY, mutating: Number.POSITIVE_INFINITY }
  await using server = await PlainServer.start([], async (parts) => {
    const { filters, paths } = await standardExtensions(parts, { limits: { inFlight } })
    const asUser: (typeof filters)[number] = (context, next) => {
      Object.assign(context, { user: { name: 'jane', groups: ['system:authenticated'] } })
      return next()
    }
    return { filters: [asUser, ...filters], paths }
  })
  const answers = await Promise.all(Array.from({ length: 700 }, () => server.send('GET /api/v1/namespaces/default')))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
})

test('standardExtensions() reports a stopping server as not ready but alive', async () => {
  const server = await PlainServer.start([], standardExtensions)
  await server[Symbol.asyncDispose]()
  expect((await server.send('GET /readyz/shutdown')).text).toBe('internal server error: process is shutting down\n')
  expect((await server.send('GET /livez')).text).toBe('ok')
})
