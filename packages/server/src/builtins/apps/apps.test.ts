import { describe, expect, it } from 'vitest'
import {
  createErrors,
  createWarnings,
  defaulted,
  prepared,
  resourceFor,
  updated,
} from '../../testdata/strategy-harness.ts'

const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'nginx:1.25' }] },
}

function workload(kind: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'w', ...metadata },
    spec: { selector: { matchLabels: { app: 'x' } }, template, ...spec },
  }
}

describe('deployments', () => {
  it('fill replicas, strategy, history and deadline', () => {
    expect(defaulted(workload('Deployment'))['spec']).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    })
  })

  it('leave a Recreate strategy without rolling update', () => {
    expect(defaulted(workload('Deployment', { strategy: { type: 'Recreate' } }))['spec']).toMatchObject({
      strategy: { type: 'Recreate' },
    })
  })

  it.each<[string, object, string[]]>([
    ['accept a plain one', {}, []],
    [
      'refuse negative replicas',
      { replicas: -1 },
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'want a selector, which then matches nothing',
      { selector: undefined },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'refuse an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'refuse zero of both',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
    ],
    [
      'refuse more than all',
      { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'refuse a strategy that is not known, in the words of Go',
      { strategy: { type: 'Odd' } },
      [
        'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'refuse rolling updates of Recreate',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'refuse a deadline before pods can be ready',
      { minReadySeconds: 600 },
      ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('Deployment', spec))).toEqual(errors)
  })

  it('keep their selector', async () => {
    const { errors } = await updated(workload('Deployment'), (object) => {
      const spec = object['spec'] as { selector: object; template: { metadata: { labels: object } } }
      spec.selector = { matchLabels: { app: 'y' } }
      spec.template.metadata.labels = { app: 'y' }
    })
    expect(errors).toEqual(['spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable'])
  })

  it('refuse a status that counts more than there are', async () => {
    const { errors } = await updated(
      workload('Deployment'),
      (object) => {
        object['status'] = { replicas: 1, readyReplicas: 2 }
      },
      'status',
    )
    expect(errors).toEqual(['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'])
  })

  it('count a changed annotation as a new generation', () => {
    const rule = resourceFor('apps/v1', 'Deployment').strategy.generation as (a: object, b: object) => boolean
    const object = prepared(workload('Deployment'))
    expect(rule(object, object)).toBe(false)
    expect(rule({ ...object, metadata: { ...object.metadata, annotations: { a: 'b' } } }, object)).toBe(true)
  })

  it('warn of a name that makes bad host names', () => {
    const [warning] = createWarnings(workload('Deployment', {}, { name: 'a.b' }))
    expect(warning).toBe(
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; ' +
        'a DNS label is recommended: [must not contain dots]',
    )
  })
})

describe('stateful sets', () => {
  it('fill claim templates, policies and the partition', () => {
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

  it('drop maxUnavailable, which belongs to a feature that is off', () => {
    const object = prepared(
      workload('StatefulSet', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }),
    )
    expect(object['spec']).toMatchObject({ updateStrategy: { rollingUpdate: { partition: 0 } } })
    expect(JSON.stringify(object)).not.toContain('maxUnavailable')
  })

  it.each<[string, object, string[]]>([
    ['mount the volumes of claims', claimed('data'), []],
    [
      'refuse policies that are not known',
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
      'refuse a rolling update on delete',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: ' +
          "only allowed for updateStrategy 'RollingUpdate'",
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('StatefulSet', spec))).toEqual(errors)
  })

  it('keep everything but what may change', async () => {
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
})

function claimed(name: string): object {
  const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name, mountPath: '/data' }] }]
  return {
    template: { ...template, spec: { containers } },
    volumeClaimTemplates: [
      {
        metadata: { name },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  }
}

describe('daemon sets', () => {
  const key = 'deprecated.daemonset.template.generation'

  it('count changes of their template in an annotation', async () => {
    expect(prepared(workload('DaemonSet')).metadata.annotations).toEqual({ [key]: '1' })
    const { object } = await updated(workload('DaemonSet'), (next) => {
      const spec = next['spec'] as { template: { spec: { containers: { image: string }[] } } }
      spec.template.spec.containers[0]!.image = 'nginx:1.26'
    })
    expect(object.metadata.annotations).toEqual({ [key]: '2' })
  })

  it.each<[string, object, string[]]>([
    [
      'refuse surge together with unavailability',
      { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
      ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
    ],
    [
      'refuse neither',
      { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
    ],
    [
      'refuse pods that end',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('DaemonSet', spec))).toEqual(errors)
  })
})

describe('controller revisions', () => {
  const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1 }

  it.each<[string, object, string[]]>([
    ['take an object', { data: { a: 1 } }, []],
    ['want data', {}, ['data: Required value: data is mandatory']],
    [
      'refuse negative revisions',
      { data: {}, revision: -1 },
      ['revision: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ])('%s', async (_, fields, errors) => {
    expect(await createErrors({ ...revision, ...fields })).toEqual(errors)
  })

  it('never change', async () => {
    const { errors } = await updated({ ...revision, data: { a: 1 } }, (object) => {
      object['data'] = { a: 2 }
    })
    expect(errors).toEqual(['data: Invalid value: {"a":2}: field is immutable'])
  })
})
