import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { persistentVolumes } from './persistent-volume.ts'

const { createErrors } = strategyHarness(persistentVolumes)

describe('persistent volumes', () => {
  test.each<[string, object, string[]]>([
    [
      'an empty spec',
      { spec: {} },
      [
        'spec.accessModes: Required value',
        'spec.capacity: Required value',
        'spec.capacity: Unsupported value: null: supported values: "storage"',
        'spec: Required value: must specify a volume type',
      ],
    ],
    [
      'local volumes without node affinity',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' }, local: { path: '/x' } } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(
      await createErrors({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'x' }, ...fields }),
    ).toEqual(errors)
  })

  test('show capacity, access modes and the claim', () => {
    expect(
      cellsOf(persistentVolumes, {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
        spec: {
          capacity: { storage: '2048Mi' },
          accessModes: ['ReadWriteOncePod', 'ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'n', name: 'c' },
          storageClassName: 'new',
          volumeMode: 'Block',
        },
        status: { phase: 'Bound', reason: 'r' },
      }),
    ).toEqual(['x', '2Gi', 'RWO,ROX,RWOP', 'Retain', 'Bound', 'n/c', 'old', '<unset>', 'r', '60m', 'Block'])
  })
})
