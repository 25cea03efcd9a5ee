import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { persistentVolumeClaims } from './persistent-volume-claim.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(persistentVolumeClaims)

const claims = '/api/v1/namespaces/a/persistentvolumeclaims'

describe('persistent volume claims', () => {
  test.each<[string, object, string[]]>([
    [
      'exclusive access with other modes, and a size of zero',
      { spec: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'], resources: { requests: { storage: '0' } } } },
      [
        'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
        'spec.resources[storage]: Invalid value: "0": must be greater than zero',
      ],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(
      await createErrors({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'x' }, ...fields }),
    ).toEqual(errors)
  })

  test('show the volume of a bound claim', () => {
    expect(
      cellsOf(persistentVolumeClaims, {
        spec: { volumeName: 'v', storageClassName: 's', volumeAttributesClassName: 'fast' },
        status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany'] },
      }),
    ).toEqual(['x', 'Bound', 'v', '1Gi', 'RWX', 's', 'fast', '60m', '<unset>'])
  })

  test('show no volume of an unbound claim', () => {
    expect(
      cellsOf(persistentVolumeClaims, {
        metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        status: { phase: 'Pending' },
      }),
    ).toEqual(['x', 'Terminating', '', '', '', '', '<unset>', '60m', '<unset>'])
  })

  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }

  test('copy the data source to both fields', async () => {
    const source = { kind: 'PersistentVolumeClaim', name: 'b' }
    const { body } = await client.create(claims, named('src', { spec: { ...claim.spec, dataSource: source } }))
    expect(body.spec.dataSourceRef).toEqual({ apiGroup: null, ...source })
  })

  test('can grow only after they are bound', async () => {
    const path = `${claims}/grow`
    await client.create(claims, named('grow', claim))
    const grow = { spec: { resources: { requests: { storage: '2Gi' } } } }
    expect(problemOf(await client.patch(path, grow))).toMatch(
      /^spec: Forbidden: spec is immutable after creation except/,
    )
    await client.patch(`${path}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } })
    expect((await client.patch(path, grow)).status).toBe(200)
    expect(problemOf(await client.patch(path, { spec: { resources: { requests: { storage: '1Gi' } } } }))).toBe(
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    )
  })
})
