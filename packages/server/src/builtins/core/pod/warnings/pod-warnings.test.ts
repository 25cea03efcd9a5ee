import { FieldPath } from '@kubewright/schema'
import { expect, test } from 'vitest'
import type { PodSpec } from '../pod-types.ts'
import { maxPodWarnings } from './max-pod-warnings.ts'
import { podTemplateWarnings, podWarnings } from './pod-warnings.ts'

test.each<[PodSpec, string[]]>([
  [
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    { topologySpreadConstraints: [{ topologyKey: 'k' }] },
    ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
  ],
  [
    { volumes: [{ gitRepo: { repository: 'r' } }] },
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  [{ hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }] }, ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"']],
  [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, ['spec.imagePullSecrets[1].name: duplicate name "a"']],
  [
    { containers: [{ resources: { limits: { memory: '1500m' } } }] },
    ['spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer'],
  ],
  [
    {
      containers: [
        {
          env: [
            { name: 'A', value: 'x' },
            { name: 'A', value: 'y' },
          ],
        },
      ],
    },
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    {
      containers: [
        {
          env: [
            { name: 'A', value: 'x' },
            { name: 'A', value: '$(A)y' },
          ],
        },
      ],
    },
    [],
  ],
  [
    {
      containers: [
        {
          ports: [
            { containerPort: 1, protocol: 'TCP' },
            { containerPort: 1, protocol: 'TCP' },
          ],
        },
      ],
    },
    ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    { terminationGracePeriodSeconds: -1 },
    ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
  ],
  [
    { hostAliases: [{ ip: '010.0.0.1' }] },
    [
      'spec.hostAliases[0].ip: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1"',
    ],
  ],
])('podWarnings() about %j', (spec, warnings) => {
  expect(podWarnings({ metadata: { name: 'p' }, spec })).toEqual(warnings)
})

test('podWarnings() recommends a DNS label as name', () => {
  expect(podWarnings({ metadata: { name: 'a.b' }, spec: {} })).toEqual([
    expect.stringMatching(/^metadata\.name: this is used in the Pod's hostname, .*: \[.*\]$/),
  ])
})

test('podTemplateWarnings() include the path of the template', () => {
  const template = { spec: { terminationGracePeriodSeconds: -1 } }
  expect(podTemplateWarnings(template, FieldPath.of('spec', 'template'))).toEqual([
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ])
})

test('podWarnings() limits the warnings about pairs of ports', () => {
  const containers = Array.from({ length: 200 }, () => ({ ports: [{ containerPort: 1, protocol: 'TCP' }] }))
  const warnings = podWarnings({ metadata: { name: 'p' }, spec: { containers } })
  expect(warnings).toHaveLength(maxPodWarnings)
  expect(warnings[0]).toBe('spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]')
})

test('podWarnings() compares host ports and addresses in the order of definition', () => {
  const port = (hostPort: number, hostIP = ''): object => ({ containerPort: 1, protocol: 'TCP', hostPort, hostIP })
  const ports = [port(8, '1.1.1.1'), port(0), port(8, '2.2.2.2'), port(8), port(9), port(8, '1.1.1.1')]
  const at = (i: number): string => `spec.containers[0].ports[${i}]`
  expect(podWarnings({ metadata: { name: 'p' }, spec: { containers: [{ ports }] } })).toEqual([
    `${at(1)}: overlapping port definition with ${at(0)}`,
    `${at(2)}: overlapping port definition with ${at(1)}`,
    `${at(3)}: dangerously ambiguous port definition with ${at(0)}`,
    `${at(3)}: overlapping port definition with ${at(1)}`,
    `${at(3)}: dangerously ambiguous port definition with ${at(2)}`,
    `${at(4)}: overlapping port definition with ${at(1)}`,
    `${at(5)}: duplicate port definition with ${at(0)}`,
    `${at(5)}: overlapping port definition with ${at(1)}`,
    `${at(5)}: dangerously ambiguous port definition with ${at(3)}`,
  ])
})
