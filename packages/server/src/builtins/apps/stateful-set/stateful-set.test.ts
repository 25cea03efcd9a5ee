import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { podTemplate, shownTemplate, workload } from '../../../testdata/workload-object.ts'
import { statefulSets } from './stateful-set.ts'

const { createErrors, defaulted, prepared, updated } = strategyHarness(statefulSets)

describe('stateful sets', () => {
  test('default claim templates, policies and the partition', () => {
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }
    expect(defaulted(workload('StatefulSet', { volumeClaimTemplates: [claim] }))['spec']).toMatchObject({
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          spec: { volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
    })
  })

  test('drop maxUnavailable, whose feature gate is off', () => {
    const object = prepared(
      workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }),
    )
    expect(object['spec']).toMatchObject({ updateStrategy: { rollingUpdate: { partition: 0 } } })
    expect(JSON.stringify(object)).not.toContain('maxUnavailable')
  })

  test.each<[string, object, string[]]>([
    ['accept mounts of the volumes of claim templates', claimed('data'), []],
    [
      'reject unknown policies',
      {
        podManagementPolicy: 'Odd',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Odd', whenScaled: 'Retain' },
      },
      [
        "spec.podManagementPolicy: Invalid value: \"Odd\": must be 'OrderedReady' or 'Parallel'",
        'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Odd": supported values: "Retain", "Delete"',
      ],
    ],
    [
      'reject a rolling update for the strategy OnDelete',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: ' +
          "only allowed for updateStrategy 'RollingUpdate'",
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('StatefulSet', spec))).toEqual(errors)
  })

  test('reject changes of immutable fields', async () => {
    const scaled = await updated(
      workload('StatefulSet'),
      (object) => void ((object['spec'] as { replicas: number }).replicas = 3),
    )
    expect(scaled.errors).toEqual([])
    const renamed = await updated(workload('StatefulSet'), (object) => {
      const spec = object['spec'] as { serviceName: string }
      spec.serviceName = 'other'
    })
    expect(renamed.errors).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ])
  })

  test('show ready and desired replicas', () => {
    expect(cellsOf(statefulSets, { spec: { replicas: 2, template: shownTemplate } })).toEqual([
      'x',
      '0/2',
      '60m',
      'c1,c2',
      'i1,i2',
    ])
  })
})

function claimed(name: string): object {
  const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name, mountPath: '/data' }] }]
  return {
    template: { ...podTemplate, spec: { containers } },
    volumeClaimTemplates: [
      {
        metadata: { name },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  }
}
