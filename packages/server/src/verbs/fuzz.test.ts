import { type Random, seededRandom } from '@kubewright/base'
import { expect, test } from 'vitest'
import { PlainServer } from '../testdata/plain-server.ts'

const collections = [
  '/api/v1/namespaces/a/configmaps',
  '/api/v1/namespaces/a/secrets',
  '/api/v1/namespaces/a/pods',
  '/api/v1/namespaces/b/services',
  '/apis/apps/v1/namespaces/a/deployments',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  '/apis/coordination.k8s.io/v1/namespaces/a/leases',
]
const names = ['x', 'y', 'z', 'UPPER', '..', 'a%2Fb', '%00', 'ü', '-', 'x/status', 'y/scale', 'x/log', 'x/y/z/w']
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW']
const types = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain; charset=x',
  '',
]
const accepts = [
  'application/json',
  'application/yaml',
  '*/*',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
  'text/html',
  ';;;,,q=',
]
const queries = [
  'limit=2',
  'limit=-1',
  'limit=x',
  'continue=abc',
  'resourceVersion=1',
  'resourceVersion=abc&resourceVersionMatch=Exact',
  'labelSelector=a%3Db',
  'labelSelector=%21%21',
  'fieldSelector=metadata.name%3Dx',
  'fieldSelector=spec.nope%3Dx',
  'fieldManager=m&force=true',
  'fieldManager=m',
  'dryRun=All',
  'dryRun=Some',
  'fieldValidation=Strict',
  'fieldValidation=Never',
  'pretty=true',
  'propagationPolicy=Orphan',
  'gracePeriodSeconds=-3',
  'includeObject=None',
  'timeoutSeconds=5',
]
const fields = ['metadata', 'spec', 'data', 'status', 'labels', 'name', 'annotations', 'finalizers', 'ownerReferences']
const words = [
  'x',
  'y',
  '',
  'ConfigMap',
  'v1',
  'metadata',
  '__proto__',
  'constructor',
  '2026-01-01T00:00:00Z',
  '100m',
  '/data/x',
]

/** Generates requests from valid, nearly valid and meaningless parts. */
class Fuzz {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random.next() * from.length)]!
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability
  }

  value(depth: number): unknown {
    if (depth <= 0 || this.chance(0.3)) {
      return this.pick<unknown>([null, true, false, 0, 1, -1, 1.5, 2 ** 53, 1e300, '', ...words, [], {}])
    }
    if (this.chance(0.3))
      return Array.from({ length: 1 + Math.floor(this.#random.next() * 3) }, () => this.value(depth - 1))
    const object: Record<string, unknown> = {}
    for (let i = 0; i < 3; i++) object[this.pick([...fields, ...words])] = this.value(depth - 1)
    return object
  }

  object(): Record<string, unknown> {
    const metadata: Record<string, unknown> = { name: this.pick(['x', 'y', 'z', 'Bad_', '']) }
    if (this.chance(0.3)) metadata['finalizers'] = this.pick<unknown>([['example.com/f'], ['orphan'], null])
    if (this.chance(0.3)) metadata['labels'] = { a: this.pick(['b', '!', '']) }
    if (this.chance(0.1)) metadata[this.pick(fields)] = this.value(2)
    const object: Record<string, unknown> = { metadata }
    if (this.chance(0.5))
      object['data'] = { k: 'v', ...(this.chance(0.2) ? { [this.pick(words)]: this.value(1) } : {}) }
    if (this.chance(0.3)) object['spec'] = this.value(3)
    if (this.chance(0.1)) object[this.pick(['kind', 'apiVersion', 'status', 'nope'])] = this.value(1)
    return object
  }

  body(): unknown {
    if (this.chance(0.6)) return this.object()
    if (this.chance(0.3)) {
      const operation = {
        op: this.pick(['add', 'remove', 'replace', 'test', 'move', 'copy', 'x']),
        path: this.pick(['/data/k', '', '/metadata/labels/a', 'x', '/spec/0/-']),
      }
      return [{ ...operation, value: this.value(2), from: '/data' }]
    }
    return this.pick<unknown>(['', '{', 'a: b: c', '[1]', 'null', '"s"', '{"a":1,"a":2}', '\u0000', this.value(4)])
  }

  line(): string {
    let path = this.pick(collections)
    if (this.chance(0.7)) path += `/${this.pick(names)}`
    const query = Array.from({ length: Math.floor(this.#random.next() * 3) }, () => this.pick(queries)).join('&')
    return `${this.pick(methods)} ${path}${query === '' ? '' : `?${query}`}`
  }
}

test('the request handler never responds with an internal error', async () => {
  await using server = await PlainServer.start()
  const fuzz = new Fuzz(seededRandom(20260102))
  const statuses = new Map<number, number>()
  for (let i = 0; i < 4000; i++) {
    const line = fuzz.line()
    const headers = { 'content-type': fuzz.pick(types), accept: fuzz.pick(accepts) }
    const body = line.startsWith('GET') || fuzz.chance(0.1) ? undefined : fuzz.body()
    const answer = await server.send(line, { headers, body })
    const what = `${line} ${JSON.stringify(headers)} ${JSON.stringify(body)} => ${answer.text}`
    expect(answer.body?.reason, what).not.toBe('InternalError')
    expect(answer.status, what).toBeGreaterThanOrEqual(200)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
  // Guards the generator: it must produce requests with all of these outcomes.
  expect([200, 201, 400, 404, 405, 406, 409, 415, 422].filter((status) => !statuses.has(status))).toEqual([])
})
