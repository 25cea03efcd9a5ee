import { discoveryGroups } from '@kubewright/k8s/discovery'
import { describe, expect, it } from 'vitest'
import type { MutableObject } from '../resource/object.ts'
import type { TableDefinition } from '../resource/table-definition.ts'
import { builtinResources } from './builtin-resources.ts'
import { builtins } from './builtins.ts'
import { scaleTable } from './scale/scale-table.ts'

const builtinTables: Record<string, TableDefinition> = {}
for (const { kind, presentation } of builtinResources(builtins)) {
  if (presentation.table) builtinTables[`${kind.group}/${kind.plural}`] = presentation.table
}

const now = Date.UTC(2024, 0, 1, 1)
const created = { creationTimestamp: '2024-01-01T00:00:00Z' }

function cells(key: string, fields: { metadata?: object; [field: string]: unknown }): readonly unknown[] {
  const table = key === 'scale' ? scaleTable : builtinTables[key]
  return table!.row(
    { apiVersion: '', kind: '', ...fields, metadata: { name: 'x', ...created, ...fields.metadata } },
    now,
  )
}

/** Resources whose registries use the default table in the real server too. */
const withoutColumns = [
  '/limitranges',
  'apiextensions.k8s.io/customresourcedefinitions',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/roles',
  'storage.k8s.io/csistoragecapacities',
]

describe('builtinTables', () => {
  it('has a table for each resource that can be listed, but for those with the default one', () => {
    const listed = discoveryGroups().flatMap(({ group, versions }) =>
      versions.flatMap(({ resources }) =>
        resources.filter(({ verbs }) => verbs.includes('list')).map(({ resource }) => `${group}/${resource}`),
      ),
    )
    expect([...Object.keys(builtinTables), ...withoutColumns].sort()).toEqual([...new Set(listed)].sort())
  })

  it.each(Object.keys(builtinTables))('fills every column of %s for an object with nothing in it', (key) => {
    const { columns, row } = builtinTables[key]!
    const bookmark: MutableObject = { apiVersion: '', kind: '', metadata: {}, spec: null, status: null }
    const found = row(bookmark, now)
    // The real server, too, prints an age of addresses for which there is no column.
    expect(found).toHaveLength(columns.length + (key === 'networking.k8s.io/ipaddresses' ? 1 : 0))
    expect(found).not.toContain(undefined)
  })

  const containers = [
    { name: 'c1', image: 'i1' },
    { name: 'c2', image: 'i2' },
  ]
  const template = { metadata: { labels: { t: '1' } }, spec: { containers, nodeSelector: { disk: 'ssd' } } }
  const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['2', '1'] }] }

  it.each<[string, { metadata?: object; [field: string]: unknown }, unknown[]]>([
    ['/namespaces', { status: { phase: 'Terminating' } }, ['x', 'Terminating', '60m']],
    ['/configmaps', { data: { a: '1' }, binaryData: { b: 'Ag==', c: 'Aw==' } }, ['x', 3, '60m']],
    ['/secrets', { type: 'Opaque', data: { a: '' } }, ['x', 'Opaque', 1, '60m']],
    ['/serviceaccounts', {}, ['x', '60m']],
    [
      '/resourcequotas',
      {
        status: {
          hard: { 'requests.cpu': '1', 'limits.cpu': '2', pods: '10', 'limits.memory': '1024Mi' },
          used: { 'requests.cpu': '500m', pods: '3' },
        },
      },
      ['x', 'pods: 3/10, requests.cpu: 500m/1', 'limits.cpu: 0/2, limits.memory: 0/1Gi', '60m'],
    ],
    [
      '/componentstatuses',
      { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] },
      ['x', 'Unhealthy', 'm', 'e'],
    ],
    ['/podtemplates', { template }, ['x', 'c1,c2', 'i1,i2', 't=1']],
    [
      '/replicationcontrollers',
      { spec: { replicas: 3, selector: { a: 'b' }, template }, status: { replicas: 2, readyReplicas: 1 } },
      ['x', 3, 2, 1, '60m', 'c1,c2', 'i1,i2', 'a=b'],
    ],
    [
      '/services',
      {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.0.0.1', 'fd00::1'],
          ports: [
            { port: 80, protocol: 'TCP', nodePort: 30080 },
            { port: 53, protocol: 'UDP' },
          ],
          externalIPs: ['1.2.3.4', '5.6.7.8'],
          selector: { b: '2', a: '1' },
        },
      },
      ['x', 'NodePort', '10.0.0.1', '1.2.3.4,5.6.7.8', '80:30080/TCP,53/UDP', '60m', 'a=1,b=2'],
    ],
    [
      '/services',
      { spec: { type: 'ExternalName', externalName: 'example.com' } },
      ['x', 'ExternalName', '<none>', 'example.com', '<none>', '60m', '<none>'],
    ],
    [
      '/services',
      { spec: { type: 'LoadBalancer', clusterIP: 'None' } },
      ['x', 'LoadBalancer', 'None', '<pending>', '<none>', '60m', '<none>'],
    ],
    [
      '/services',
      {
        spec: { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'], externalIPs: ['9.9.9.9'] },
        status: { loadBalancer: { ingress: [{ hostname: 'a-very-long-name.example.com' }] } },
      },
      ['x', 'LoadBalancer', '10.0.0.1', 'a-very-long-name.example.com,9.9.9.9', '<none>', '60m', '<none>'],
    ],
    ['/endpoints', { subsets: [] }, ['x', '<none>', '60m']],
    [
      '/endpoints',
      {
        subsets: [
          { addresses: [{ ip: '1.1.1.1' }] },
          { addresses: [{ ip: '2.2.2.2' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] },
        ],
      },
      ['x', '1.1.1.1,2.2.2.2:80,[fd00::1]:80 + 2 more...', '60m'],
    ],
    [
      '/nodes',
      {
        metadata: {
          labels: {
            'node-role.kubernetes.io/worker': '',
            'node-role.kubernetes.io/': '',
            'kubernetes.io/role': 'edge',
          },
        },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'Unknown' }],
          nodeInfo: { kubeletVersion: 'v1.35.8', osImage: 'Linux' },
          addresses: [
            { type: 'Hostname', address: 'h' },
            { type: 'InternalIP', address: '10.0.0.9' },
          ],
        },
      },
      [
        'x',
        'NotReady,SchedulingDisabled',
        'edge,worker',
        '60m',
        'v1.35.8',
        '10.0.0.9',
        '<none>',
        'Linux',
        '<unknown>',
        '<unknown>',
      ],
    ],
    [
      '/persistentvolumes',
      {
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
      },
      ['x', '2Gi', 'RWO,ROX,RWOP', 'Retain', 'Bound', 'n/c', 'old', '<unset>', 'r', '60m', 'Block'],
    ],
    [
      '/persistentvolumeclaims',
      {
        spec: { volumeName: 'v', storageClassName: 's', volumeAttributesClassName: 'fast' },
        status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany'] },
      },
      ['x', 'Bound', 'v', '1Gi', 'RWX', 's', 'fast', '60m', '<unset>'],
    ],
    [
      '/persistentvolumeclaims',
      {
        metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        status: { phase: 'Pending' },
      },
      ['x', 'Terminating', '', '', '', '', '<unset>', '60m', '<unset>'],
    ],
    [
      '/events',
      {
        type: 'Warning',
        reason: 'R',
        message: ' text\n',
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{a}' },
        source: { component: 'kubelet', host: 'n1' },
        firstTimestamp: '2024-01-01T00:30:00Z',
        lastTimestamp: '2024-01-01T00:59:00Z',
        count: 7,
      },
      ['60s', 'Warning', 'R', 'pod/p', 'spec.containers{a}', 'kubelet, n1', 'text', '30m', 7, 'x'],
    ],
    [
      'events.k8s.io/events',
      {
        note: 'n',
        regarding: { kind: 'Node' },
        reportingController: 'c',
        eventTime: '2024-01-01T00:30:00.000000Z',
        series: { count: 4, lastObservedTime: '2024-01-01T00:59:30.000000Z' },
      },
      ['30s', '', '', 'node', '', 'c', 'n', '30m', 4, 'x'],
    ],
    ['/events', { involvedObject: {} }, ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'x']],
    [
      'apps/deployments',
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      ['x', '1/3', 2, 1, '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'],
    ],
    [
      'apps/replicasets',
      { spec: { replicas: 0, selector: {}, template } },
      ['x', 0, 0, 0, '60m', 'c1,c2', 'i1,i2', '<none>'],
    ],
    [
      'apps/daemonsets',
      {
        spec: { selector, template },
        status: {
          desiredNumberScheduled: 5,
          currentNumberScheduled: 4,
          numberReady: 3,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
        },
      },
      ['x', 5, 4, 3, 2, 1, 'disk=ssd', '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'],
    ],
    ['apps/statefulsets', { spec: { replicas: 2, template } }, ['x', '0/2', '60m', 'c1,c2', 'i1,i2']],
    [
      'apps/controllerrevisions',
      {
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'no' },
            { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', controller: true },
          ],
        },
        revision: 4,
      },
      ['x', 'statefulset.apps/web', 4, '60m'],
    ],
    [
      'batch/jobs',
      {
        spec: { completions: 4, parallelism: 2, selector, template },
        status: { succeeded: 1, startTime: '2024-01-01T00:00:10Z' },
      },
      ['x', 'Running', '1/4', '59m', '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'],
    ],
    [
      'batch/jobs',
      {
        metadata: { deletionTimestamp: '2024-01-01T00:30:00Z' },
        spec: { parallelism: 2 },
        status: {
          startTime: '2024-01-01T00:00:00Z',
          completionTime: '2024-01-01T00:00:42Z',
          conditions: [
            { type: 'SuccessCriteriaMet', status: 'True' },
            { type: 'Complete', status: 'True' },
          ],
        },
      },
      ['x', 'Complete', '0/1 of 2', '42s', '60m', '', '', '<none>'],
    ],
    [
      'batch/jobs',
      { spec: { parallelism: 1 }, status: { conditions: [{ type: 'Suspended', status: 'True' }] } },
      ['x', 'Suspended', '0/1', '', '60m', '', '', '<none>'],
    ],
    [
      'batch/cronjobs',
      {
        spec: { schedule: '* * * * *', timeZone: 'Etc/UTC', suspend: false, jobTemplate: { spec: { template } } },
        status: { active: [{}], lastScheduleTime: '2024-01-01T00:59:00Z' },
      },
      ['x', '* * * * *', 'Etc/UTC', 'False', 1, '60s', '60m', 'c1,c2', 'i1,i2', '<none>'],
    ],
    [
      'autoscaling/horizontalpodautoscalers',
      {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Pods', pods: { target: { averageValue: '10' } } },
            { type: 'External', external: { target: { value: '1' } } },
          ],
        },
        status: { currentReplicas: 3, currentMetrics: [{ resource: { current: { averageUtilization: 5 } } }] },
      },
      ['x', 'Deployment/d', 'cpu: 5%/80%, <unknown>/10 + 1 more...', '2', 9, 3, '60m'],
    ],
    [
      'autoscaling/horizontalpodautoscalers',
      {
        metadata: {
          annotations: {
            'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods","pods":{"targetAverageValue":"10"}}]',
            'autoscaling.alpha.kubernetes.io/current-metrics':
              '[{"type":"Pods","pods":{"currentAverageValue":"4"}},{"type":"Resource","resource":{"currentAverageUtilization":7}}]',
          },
        },
        spec: { scaleTargetRef: { kind: 'K', name: 'n' }, maxReplicas: 2, targetCPUUtilizationPercentage: 50 },
      },
      ['x', 'K/n', '4/10, cpu: 7%/50%', '<unset>', 2, 0, '60m'],
    ],
    ['scale', { spec: { replicas: 3 }, status: { replicas: 2 } }, ['x', 3, 2, '60m']],
    [
      'networking.k8s.io/ingresses',
      {
        spec: {
          ingressClassName: 'nginx',
          rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }],
          tls: [{}],
        },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
      },
      ['x', 'nginx', 'a,b,c + 2 more...', '1.1.1.1', '80, 443', '60m'],
    ],
    ['networking.k8s.io/ingresses', { spec: { rules: [{}] } }, ['x', '<none>', '*', '', '80', '60m']],
    [
      'networking.k8s.io/ingressclasses',
      { spec: { controller: 'e.com/c', parameters: { apiGroup: 'k.e.com', kind: 'P', name: 'n' } } },
      ['x', 'e.com/c', 'P.k.e.com/n', '60m'],
    ],
    ['networking.k8s.io/networkpolicies', { spec: { podSelector: {} } }, ['x', '<none>', '60m']],
    [
      'networking.k8s.io/servicecidrs',
      { spec: { cidrs: ['10.0.0.0/16', 'fd00::/64'] } },
      ['x', '10.0.0.0/16,fd00::/64', '60m'],
    ],
    [
      'networking.k8s.io/ipaddresses',
      { spec: { parentRef: { group: '', resource: 'services', namespace: 'n', name: 's' } } },
      ['x', 'services/n/s', '60m'],
    ],
    [
      'discovery.k8s.io/endpointslices',
      {
        addressType: 'IPv4',
        ports: [{ port: 80 }, { name: 'web' }, {}],
        endpoints: [{ addresses: ['1', '2'] }, { addresses: ['3', '4'] }],
      },
      ['x', 'IPv4', '80,web,*', '1,2,3 + 1 more...', '60m'],
    ],
    [
      'storage.k8s.io/storageclasses',
      {
        metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p',
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowVolumeExpansion: true,
      },
      ['x (default)', 'p', 'Retain', 'WaitForFirstConsumer', true, '60m'],
    ],
    ['storage.k8s.io/volumeattributesclasses', { driverName: 'd' }, ['x', 'd', '60m']],
    [
      'storage.k8s.io/volumeattachments',
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'pv' } }, status: { attached: true } },
      ['x', 'a', 'pv', 'n', true, '60m'],
    ],
    ['storage.k8s.io/csinodes', { spec: { drivers: [{}, {}] } }, ['x', 2, '60m']],
    [
      'storage.k8s.io/csidrivers',
      { spec: { attachRequired: false, tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } },
      ['x', false, false, false, 'a,b', false, '<none>', '60m'],
    ],
    [
      'rbac.authorization.k8s.io/rolebindings',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u1' },
          { kind: 'User', name: 'u2' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      },
      ['x', 'Role/r', '60m', 'u1, u2', '', 'n/s'],
    ],
    [
      'policy/poddisruptionbudgets',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } },
      ['x', '50%', 'N/A', 1, '60m'],
    ],
    ['policy/poddisruptionbudgets', { spec: { maxUnavailable: 0 } }, ['x', 'N/A', '0', 0, '60m']],
    ['admissionregistration.k8s.io/mutatingwebhookconfigurations', { webhooks: [{}] }, ['x', 1, '60m']],
    [
      'admissionregistration.k8s.io/validatingadmissionpolicies',
      { spec: { validations: [{}, {}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
      ['x', 2, 'v1/ConfigMap', '60m'],
    ],
    [
      'admissionregistration.k8s.io/validatingadmissionpolicybindings',
      { spec: { policyName: 'p', paramRef: { name: 'n' } } },
      ['x', 'p', '*/n', '60m'],
    ],
    [
      'admissionregistration.k8s.io/validatingadmissionpolicybindings',
      { spec: { policyName: 'p', paramRef: { selector } } },
      [
        'x',
        'p',
        '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[2 1],},},}',
        '60m',
      ],
    ],
    [
      'certificates.k8s.io/certificatesigningrequests',
      {
        spec: { signerName: 'e.com/s', username: 'jane', expirationSeconds: 3600 },
        status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'AA==' },
      },
      ['x', '60m', 'e.com/s', 'jane', '60m', 'Approved,Failed,Issued'],
    ],
    ['scheduling.k8s.io/priorityclasses', { value: -5, preemptionPolicy: 'Never' }, ['x', -5, false, '60m', 'Never']],
    ['node.k8s.io/runtimeclasses', { handler: 'h' }, ['x', 'h', '60m']],
    ['coordination.k8s.io/leases', { spec: { holderIdentity: 'me' } }, ['x', 'me', '60m']],
    ['apiregistration.k8s.io/apiservices', {}, ['x', 'Local', 'Unknown', '60m']],
    [
      'apiregistration.k8s.io/apiservices',
      {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
      },
      ['x', 'n/s', 'False (MissingEndpoints)', '60m'],
    ],
    [
      'flowcontrol.apiserver.k8s.io/flowschemas',
      {
        spec: {
          priorityLevelConfiguration: { name: 'p' },
          matchingPrecedence: 100,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      },
      ['x', 'p', 100, 'ByUser', '60m', 'False'],
    ],
    [
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
      {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: 30,
            limitResponse: { queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
          },
        },
      },
      ['x', 'Limited', 30, 64, 6, 50, '60m'],
    ],
    [
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
      { spec: { type: 'Exempt' } },
      ['x', 'Exempt', '<none>', '<none>', '<none>', '<none>', '60m'],
    ],
    ['resource.k8s.io/deviceclasses', {}, ['x', '60m']],
    ['resource.k8s.io/resourceclaims', {}, ['x', 'pending', '60m']],
    [
      'resource.k8s.io/resourceclaims',
      { metadata: { deletionTimestamp: 'now' }, status: { allocation: {}, reservedFor: [{}] } },
      ['x', 'deleted,allocated,reserved', '60m'],
    ],
    [
      'resource.k8s.io/resourceslices',
      { spec: { nodeName: 'n', driver: 'd', pool: { name: 'p' } } },
      ['x', 'n', 'd', 'p', '60m'],
    ],
  ])('prints %s %j', (key, fields, expected) => {
    expect(cells(key, fields)).toEqual(expected)
  })
})
