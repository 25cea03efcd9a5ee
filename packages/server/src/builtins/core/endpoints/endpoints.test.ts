import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { endpoints } from './endpoints.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(endpoints)

describe('endpoints', () => {
  test.each<[string, object, string[]]>([
    [
      'subsets without addresses',
      { subsets: [{ ports: [{ port: 1 }] }] },
      ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
    ],
    [
      'link-local addresses',
      { subsets: [{ addresses: [{ ip: '169.254.0.1' }] }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('show <none> without subsets', () => {
    expect(cellsOf(endpoints, { subsets: [] })).toEqual(['x', '<none>', '60m'])
  })

  test('show at most three addresses', () => {
    expect(
      cellsOf(endpoints, {
        subsets: [
          { addresses: [{ ip: '1.1.1.1' }] },
          { addresses: [{ ip: '2.2.2.2' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] },
        ],
      }),
    ).toEqual(['x', '1.1.1.1,2.2.2.2:80,[fd00::1]:80 + 2 more...', '60m'])
  })

  test('warn that they are deprecated', async () => {
    const answer = await client.send('GET /api/v1/namespaces/a/endpoints')
    expect(answer.headers['warning']).toEqual([
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    ])
  })
})
