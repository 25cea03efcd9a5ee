import { FieldPath, invalid } from '@kubewright/schema'
import { describe, expect, it } from 'vitest'
import {
  createErrors,
  createWarnings,
  defaulted,
  prepared,
  resourceFor,
  updated,
} from '../../testdata/strategy-harness.ts'
import { selectorValue, structValue } from './strategy-checks.ts'

const text = (value: unknown): string => invalid(FieldPath.of('x'), value, '').toString()

describe('structValue()', () => {
  it('keeps the order of fields and escapes as Go does', () => {
    expect(text(structValue({ b: '<', a: [1] }))).toBe('x: Invalid value: {"b":"\\u003c","a":[1]}')
  })
})

describe('selectorValue()', () => {
  it('prints labels, sorted, before expressions', () => {
    const selector = { matchExpressions: [{ key: 'k', operator: 'Exists' }], matchLabels: { b: '1', a: '2' } }
    expect(text(selectorValue(selector))).toBe(
      'x: Invalid value: {"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]}',
    )
  })

  it('prints none as null', () => {
    expect(text(selectorValue(undefined))).toBe('x: Invalid value: null')
  })
})

const meta = { metadata: { name: 'n' } }
const pdb = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', ...meta }
const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', ...meta, value: 1 }
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...meta }
const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...meta, addressType: 'IPv4', endpoints: [] }
const runtime = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', ...meta, handler: 'runc' }
const storage = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', ...meta, provisioner: 'example.com/p' }
const attachment = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', ...meta }
const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', ...meta, spec: {} }
const level = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration', ...meta }
const flow = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', ...meta }
const service = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.g.example.com' } }
const serviceSpec = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10 }

describe('strategies of smaller groups', () => {
  it('leave the names of finalizers alone where kube-apiserver does', () => {
    const free = [pdb, lease, runtime, service].map(
      ({ apiVersion, kind }) => resourceFor(apiVersion, kind).strategy.anyFinalizer,
    )
    expect(free).toEqual([true, true, true, true])
    const strict = [priority, slice, storage, flow].map(
      ({ apiVersion, kind }) => resourceFor(apiVersion, kind).strategy.anyFinalizer,
    )
    expect(strict).toEqual([undefined, undefined, undefined, undefined])
    expect(resourceFor('policy/v1', 'PodDisruptionBudget').subresources['status']?.strategy?.anyFinalizer).toBe(true)
  })

  it.each<[string, object, string[]]>([
    [
      'a budget has one bound',
      { ...pdb, spec: { minAvailable: 1, maxUnavailable: '101%' } },
      [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"101%","UnhealthyPodEvictionPolicy":null}: ' +
          'minAvailable and maxUnavailable cannot be both set',
        'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      ],
    ],
    [
      'a class of users has at most a billion',
      { ...priority, value: 1_000_000_001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'names of the system are reserved',
      { ...priority, metadata: { name: 'system-x' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. " +
          'error: system-x is not a known system priority class',
      ],
    ],
    [
      'a lease lasts',
      { ...lease, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      [
        'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
        'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'endpoints have addresses of their family',
      { ...slice, endpoints: [{ addresses: ['2001:db8::1'] }, { addresses: ['127.0.0.1'] }, { addresses: [] }] },
      [
        'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
        'endpoints[1].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'endpoints[2].addresses: Required value: must contain at least 1 address',
      ],
    ],
    [
      'port names differ',
      { ...slice, ports: [{ name: 'a' }, { name: 'a', protocol: 'ODD' }] },
      [
        'ports[1].name: Duplicate value: "a"',
        'ports[1].protocol: Unsupported value: "ODD": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      'a handler is a label',
      { ...runtime, handler: '' },
      [expect.stringMatching(/^handler: Invalid value: "": /) as unknown as string],
    ],
    [
      'a class of volumes has a known mode',
      { ...storage, provisioner: '', volumeBindingMode: 'Odd' },
      [
        'provisioner: Required value',
        'volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
      ],
    ],
    [
      'an attachment has a source',
      { ...attachment, spec: { attacher: 'example.com', nodeName: 'n', source: {} } },
      ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
    [
      'tokens of drivers last ten minutes',
      { ...driver, spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 1 }, { audience: 'a' }] } },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
      ],
    ],
    [
      'a hand fits into the deck',
      {
        ...level,
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 8 } } } },
      },
      ['spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)'],
    ],
    [
      'a flow schema has a level and subjects',
      {
        ...flow,
        spec: {
          priorityLevelConfiguration: { name: '' },
          rules: [{ subjects: [{ kind: 'User', group: { name: 'g' } }] }],
        },
      },
      [
        'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
        'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
      ],
    ],
    [
      'an API service is named for what it serves',
      { ...service, metadata: { name: 'other' }, spec: serviceSpec },
      ['metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: "v1.g.example.com"'],
    ],
  ])('%s', async (_, object, errors) => {
    expect(await createErrors(object)).toEqual(errors)
  })

  it.each<[string, object, object]>([
    ['priorities preempt', priority, { preemptionPolicy: 'PreemptLowerPriority' }],
    [
      'ports have a name and a protocol',
      { ...slice, ports: [{ port: 1 }] },
      { ports: [{ name: '', port: 1, protocol: 'TCP' }] },
    ],
    ['volumes are deleted, and bound at once', storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
    [
      'drivers attach',
      driver,
      { spec: { attachRequired: true, fsGroupPolicy: 'ReadWriteOnceWithFSType', seLinuxMount: false } },
    ],
    ['flows match late', { ...flow, spec: {} }, { spec: { matchingPrecedence: 1000 } }],
    [
      'levels share',
      { ...level, spec: { type: 'Limited', limited: {} } },
      { spec: { limited: { nominalConcurrencyShares: 30, lendablePercent: 0 } } },
    ],
  ])('%s', (_, object, expected) => {
    expect(defaulted(object)).toMatchObject(expected)
  })

  it('drops fields of leases that belong to a feature that is off', () => {
    expect(prepared({ ...lease, spec: { strategy: 'x', preferredHolder: 'y', holderIdentity: 'z' } })['spec']).toEqual({
      holderIdentity: 'z',
    })
  })

  it('refuses to delete the priority classes of the system', () => {
    const { beginDelete } = resourceFor('scheduling.k8s.io/v1', 'PriorityClass').strategy
    const system = prepared({ ...priority, metadata: { name: 'system-node-critical' } })
    expect(() => beginDelete!(system, 0)).toThrow(
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    )
    expect(beginDelete!(prepared(priority), 0)).toBe('continue')
  })

  it('keeps the parameters of a class of volumes', async () => {
    const { errors } = await updated(storage, (object) => {
      object['parameters'] = { a: 'b' }
      object['volumeBindingMode'] = 'WaitForFirstConsumer'
    })
    expect(errors).toEqual([
      'parameters: Forbidden: updates to parameters are forbidden.',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ])
  })

  it('warns of addresses that are not canonical', () => {
    expect(createWarnings({ ...slice, endpoints: [{ addresses: ['010.0.0.1'] }] })).toEqual([
      'endpoints[0].addresses[0]: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: ' +
        'use "10.0.0.1"',
    ])
  })

  it('says of a local API service that it is available', () => {
    expect(prepared({ ...service, spec: serviceSpec })['status']).toMatchObject({
      conditions: [{ type: 'Available', status: 'True', reason: 'Local', lastTransitionTime: '2026-01-02T03:04:05Z' }],
    })
  })
})
