import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { secrets } from './secret.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(secrets)

const path = '/api/v1/namespaces/a/secrets'

describe('secrets', () => {
  test.each<[string, object, string[]]>([
    [
      'a docker configuration without data',
      { type: 'kubernetes.io/dockerconfigjson' },
      ['data[.dockerconfigjson]: Required value'],
    ],
    [
      'a docker configuration that is no object',
      { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '[]' } },
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'basic authentication without user and password',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    ['SSH authentication without key', { type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
    [
      'a token without service account',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, ...fields })).toEqual(errors)
  })

  test('show the type and the number of entries', () => {
    expect(cellsOf(secrets, { type: 'Opaque', data: { a: '' } })).toEqual(['x', 'Opaque', 1, '60m'])
  })

  test('encode stringData into data and default the type', async () => {
    const { body } = await client.create(
      `${path}`,
      named('s', { data: { a: 'eA==', b: 'eA==' }, stringData: { b: 'y' } }),
    )
    expect(body).toMatchObject({ type: 'Opaque', data: { a: 'eA==', b: 'eQ==' } })
    expect(body).not.toHaveProperty('stringData')
  })

  test('reject a change of the type, and of the data of an immutable secret', async () => {
    await client.create(path, named('fixed', { immutable: true, data: { a: 'eA==' } }))
    expect(problemOf(await client.patch(`${path}/fixed`, { immutable: null, type: 'x', data: { a: null } }))).toBe(
      '[type: Invalid value: "x": field is immutable, immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: field is immutable when `immutable` is set]',
    )
  })

  test('warn about a certificate that does not match the key', async () => {
    const answer = await client.create(
      `${path}`,
      named('tls', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'y' } }),
    )
    expect(answer.status).toBe(201)
    expect(answer.headers['warning']).toEqual(['299 - "tls: failed to find any PEM data in certificate input"'])
  })

  test.each([
    ['secrets', 'field label not supported: x'],
    ['configmaps', '"x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ])(
    'have another error for unknown field selectors than kinds without selectable fields: %s',
    async (plural, message) => {
      const { body } = await client.send(`GET /api/v1/namespaces/a/${plural}?fieldSelector=x=y`)
      expect(body.message).toContain(message)
    },
  )
})
