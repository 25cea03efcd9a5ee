import { MemoryStore } from '@kubewright/storage'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from '../../assemble-server.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }

describe('MutatingAdmissionPolicy', () => {
  const store = new MemoryStore()
  let server: AssembledServer

  beforeAll(async () => {
    server = await assembleServer({
      store,
      kubernetes: '1.36',
      access: { authorization: ['AlwaysAllow'], anonymous: true },
    })
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await send('DELETE', `${registration}/mutatingadmissionpolicies`)
    await send('DELETE', `${registration}/mutatingadmissionpolicybindings`)
  })

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function send(method: string, path: string, body?: object): Promise<any> {
    const [pathname = '', query = ''] = path.split('?')
    const { body: bytes } = await server.handler({
      method,
      path: pathname,
      query: new URLSearchParams(query),
      headers: { 'content-type': 'application/json' },
      body: async () => Buffer.from(JSON.stringify(body ?? {})),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
    // The next request sees this write.
    await server.parts.registry.feed.reached(await store.revision())
    return JSON.parse(Buffer.from(bytes as Uint8Array).toString())
  }

  const policy = (name: string, mutations: readonly object[], more: object = {}): Promise<{ message?: string }> =>
    send('POST', `${registration}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints: { resourceRules: [rule] }, mutations, ...more },
    })
  const bind = (policyName: string, more: object = {}): Promise<unknown> =>
    send('POST', `${registration}/mutatingadmissionpolicybindings`, {
      metadata: { name: `${policyName}-binding` },
      spec: { policyName, ...more },
    })
  const apply = (expression: string): object => ({
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression },
  })
  const patch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const configMap = (more: object = {}): Promise<any> =>
    send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { metadata: { name: 'x' }, ...more })

  test('merges a configuration as server-side apply does', async () => {
    await policy('p', [
      apply('Object{metadata: Object.metadata{labels: {"team": "a"}}, data: {"n": string(size(object.data))}}'),
    ])
    await bind('p')
    const { metadata, data } = await configMap({ metadata: { name: 'x', labels: { old: 'y' } }, data: { a: 'b' } })
    expect({ labels: metadata.labels, data }).toEqual({ labels: { old: 'y', team: 'a' }, data: { a: 'b', n: '1' } })
  })

  test('applies JSON patches, and leaves the object as it is when a test fails', async () => {
    const add = `JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b"), value: object.metadata.name}`
    await policy('p', [
      patch(`[${add}]`),
      patch('[JSONPatch{op: "test", path: "/data/no", value: "x"}, JSONPatch{op: "remove", path: "/data"}]'),
    ])
    await bind('p')
    const { metadata, data } = await configMap({ metadata: { name: 'x', annotations: { c: 'd' } }, data: { no: 'y' } })
    expect({ annotations: metadata.annotations, data }).toEqual({
      annotations: { c: 'd', 'a/b': 'x' },
      data: { no: 'y' },
    })
  })

  test('uses variables, conditions and parameters', async () => {
    await send('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'params' },
      data: { label: 'blue' },
    })
    await policy('p', [apply('Object{metadata: Object.metadata{labels: {"colour": variables.colour}}}')], {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'colour', expression: 'params.data.label' }],
      matchConditions: [{ name: 'wanted', expression: '"paint" in object.data' }],
    })
    await bind('p', { paramRef: { name: 'params', namespace: 'default', parameterNotFoundAction: 'Deny' } })
    expect((await configMap({ data: { paint: 'yes' } })).metadata.labels).toEqual({ colour: 'blue' })
    expect((await configMap({ data: { other: 'yes' } })).metadata.labels).toBeUndefined()
  })

  test('runs policies in the order of their names, and again when reinvoked', async () => {
    const count =
      'Object{data: {"a": "a" in object.data ? object.data["a"] + "a" : "a", "seen": "b" in object.data ? "yes" : "no"}}'
    await policy('a', [apply(count)], { reinvocationPolicy: 'IfNeeded' })
    await policy('b', [apply('Object{data: {"b": "b"}}')])
    await bind('a')
    await bind('b')
    expect((await configMap({ data: { c: 'c' } })).data).toEqual({ a: 'aa', b: 'b', c: 'c', seen: 'yes' })
  })

  test.each([
    [
      'an error of the expression',
      apply('Object{data: {"a": object.data["no"]}}'),
      'expression \'Object{data: {"a": object.data["no"]}}\' resulted in error: no such key: no',
    ],
    [
      'a type that names another path',
      apply('Object{data: Object.wrong{a: "b"}}'),
      'type mismatch: unexpected type name "Object.wrong", expected "Object.data", which matches field name path from root Object type',
    ],
    [
      'an unknown field',
      apply('Object{nope: 1}'),
      'error applying patch: failed to convert patch object to typed object: .nope: field not declared in schema',
    ],
  ])('denies requests after %s, unless failures are ignored', async (_, mutation, why) => {
    await policy('p', [mutation])
    await bind('p')
    const { message, code } = await configMap({ data: { a: 'b' } })
    expect({ message, code }).toEqual({
      code: 403,
      message: `policy 'p' with binding 'p-binding' denied request: ${why}`,
    })
    await send('DELETE', `${registration}/mutatingadmissionpolicies/p`)
    await policy('p', [mutation], { failurePolicy: 'Ignore' })
    expect((await configMap({ data: { a: 'b' } })).data).toEqual({ a: 'b' })
  })

  test('refuses to set atomic lists', async () => {
    const pods = { apiGroups: [''], apiVersions: ['v1'], resources: ['services'], operations: ['CREATE'] }
    await policy('p', [apply('Object{spec: Object.spec{externalIPs: ["10.0.0.1"]}}')], {
      matchConstraints: { resourceRules: [pods] },
    })
    await bind('p')
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
    expect((await send('POST', '/api/v1/namespaces/default/services?dryRun=All', service)).message).toContain(
      'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.externalIPs',
    )
  })

  test.each([
    [
      'an unknown operation',
      [apply('Object{}')],
      { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "CREATE", "UPDATE"',
    ],
    ['no mutation', [], {}, 'spec.mutations: Required value: mutations must contain at least one item'],
    [
      'two patches',
      [{ ...apply('Object{}'), ...patch('[]'), patchType: 'ApplyConfiguration' }],
      {},
      'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    ],
    [
      'a patch of another type',
      [apply('[1]')],
      {},
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "[1]": must evaluate to Object but got list(int)',
    ],
    [
      'an unknown reinvocation policy',
      [apply('Object{}')],
      { reinvocationPolicy: 'Often' },
      'spec.reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"',
    ],
  ])('is refused with %s', async (_, mutations, more, message) => {
    expect((await policy('p', mutations, more)).message).toBe(
      `MutatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: ${message}`,
    )
  })
})
