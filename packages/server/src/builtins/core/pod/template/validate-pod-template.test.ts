import { FieldPath } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defaultPodTemplate } from '../defaults/default-pod-spec.ts'
import type { Container, PodSpec, PodTemplate } from '../pod-types.ts'
import { validatePodTemplateSpec } from './validate-pod-template.ts'

/** The errors of a template with one good container, changed by what is given. */
function errorsOf(spec: PodSpec, metadata: PodTemplate['metadata'] = {}): string[] {
  const template: PodTemplate = { metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }
  defaultPodTemplate(template)
  return validatePodTemplateSpec(template, FieldPath.of('template')).map(String)
}

function containerErrors(container: Container, spec: PodSpec = {}): string[] {
  return errorsOf({ ...spec, containers: [{ name: 'c', image: 'i', ...container }] })
}

const at = 'template.spec'
const inContainer = `${at}.containers[0]`

test('validatePodTemplateSpec() accepts a minimal template', () => {
  expect(errorsOf({})).toEqual([])
})

describe('validatePodTemplateSpec() rejects', () => {
  test.each<[PodSpec, string[]]>([
    [{ containers: [] }, [`${at}.containers: Required value`]],
    [
      { restartPolicy: 'Perhaps' },
      [`${at}.restartPolicy: Unsupported value: "Perhaps": supported values: "Always", "OnFailure", "Never"`],
    ],
    [{ dnsPolicy: 'None' }, [`${at}.dnsConfig: Required value: must provide \`dnsConfig\` when \`dnsPolicy\` is None`]],
    [
      { dnsConfig: { nameservers: ['x'], searches: ['a_b.c', 'A'], options: [{}] } },
      [
        `${at}.dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
        expect.stringContaining(`${at}.dnsConfig.searches[1]: Invalid value: "A": `),
        `${at}.dnsConfig.options[0]: Required value: must not be empty`,
      ],
    ],
    [
      { activeDeadlineSeconds: 0 },
      [`${at}.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`],
    ],
    [
      { ephemeralContainers: [{ name: 'e', image: 'i' }] },
      [`${at}.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template`],
    ],
    [
      { volumes: [{ name: 'v', emptyDir: {}, secret: { secretName: 's' } }] },
      [`${at}.volumes[0].secret: Forbidden: may not specify more than 1 volume type`],
    ],
    [{ volumes: [{ name: 'v' }, { name: 'v' }] }, [`${at}.volumes[1].name: Duplicate value: "v"`]],
    [
      { volumes: [{ name: 'v', hostPath: { path: '../x', type: 'Y' } }] },
      [
        `${at}.volumes[0].hostPath.path: Invalid value: "../x": must not contain '..'`,
        `${at}.volumes[0].hostPath.type: Unsupported value: "Y": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`,
      ],
    ],
    [
      { volumes: [{ name: 'v', configMap: { items: [{ key: 'k', path: '/p' }] } }] },
      [
        `${at}.volumes[0].configMap.name: Required value`,
        `${at}.volumes[0].configMap.items[0].path: Invalid value: "/p": must be a relative path`,
      ],
    ],
    [
      { volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] } }] },
      [
        `${at}.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"`,
      ],
    ],
    [
      { volumes: [{ name: 'v', nfs: { path: 'x' } }] },
      [
        `${at}.volumes[0].nfs.server: Required value`,
        `${at}.volumes[0].nfs.path: Invalid value: "x": must be an absolute path`,
      ],
    ],
    [
      { tolerations: [{ operator: 'Equal', value: 'x' }] },
      [
        `${at}.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
      ],
    ],
    [
      { tolerations: [{ key: 'k', operator: 'Exists', value: 'x', tolerationSeconds: 1 }] },
      [
        `${at}.tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
        `${at}.tolerations[0].operator: Invalid value: "x": value must be empty when \`operator\` is 'Exists'`,
      ],
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 0, whenUnsatisfiable: 'X' }] },
      [
        `${at}.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero`,
        `${at}.topologySpreadConstraints[0].topologyKey: Required value: can not be empty`,
        `${at}.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"`,
      ],
    ],
    [
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
      [
        `${at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term`,
      ],
    ],
    [
      {
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'k' } }],
          },
        },
      },
      [
        `${at}.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100`,
      ],
    ],
    [
      { securityContext: { runAsUser: -1, sysctls: [{ name: 'net.x' }] }, hostNetwork: true },
      [
        `${at}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
        `${at}.securityContext.sysctls[0].name: Invalid value: "net.x": may not be specified when 'hostNetwork' is true`,
      ],
    ],
    [{ os: { name: 'windows' }, hostPID: true }, [`${at}.hostPID: Forbidden: cannot be set for a windows pod`]],
    [{ hostUsers: false, hostIPC: true }, [`${at}.HostIPC: Forbidden: when \`hostUsers\` is false`]],
    [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, [`${at}.schedulingGates[1]: Duplicate value: "a"`]],
    [
      { resourceClaims: [{ name: 'c' }] },
      [
        `${at}.resourceClaims[0]: Invalid value: {"Name":"c","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: \`resourceClaimName\`, \`resourceClaimTemplateName\``,
      ],
    ],
    [
      { resources: { limits: { cpu: '1' }, requests: { cpu: '1', pods: '1' } } },
      [`${at}.resources.requests[pods]: Unsupported value: "pods": supported values: "cpu", "hugepages-", "memory"`],
    ],
  ])('the spec %j', (spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors)
  })

  test.each<[Container, string[]]>([
    [{ name: '' }, [`${inContainer}.name: Required value`]],
    [{ image: '' }, [`${inContainer}.image: Required value`]],
    [
      { imagePullPolicy: 'Y' },
      [`${inContainer}.imagePullPolicy: Unsupported value: "Y": supported values: "Always", "IfNotPresent", "Never"`],
    ],
    [
      { terminationMessagePolicy: 'Y' },
      [
        `${inContainer}.terminationMessagePolicy: Unsupported value: "Y": supported values: "File", "FallbackToLogsOnError"`,
      ],
    ],
    [
      { ports: [{ containerPort: 0 }, { containerPort: 70000, hostPort: -1, protocol: 'X' }] },
      [
        `${inContainer}.ports[0].containerPort: Required value`,
        `${inContainer}.ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
        `${inContainer}.ports[1].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive`,
        `${inContainer}.ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
      ],
    ],
    [
      {
        ports: [
          { containerPort: 1, hostPort: 9 },
          { containerPort: 2, hostPort: 9 },
        ],
      },
      [`${inContainer}.ports[1].hostPort: Duplicate value: "TCP//9"`],
    ],
    [
      { env: [{ name: 'A', value: 'b', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      [`${inContainer}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`],
    ],
    [
      { env: [{ name: 'A', valueFrom: {} }] },
      [
        `${inContainer}.env[0].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] },
      [
        `${inContainer}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
      ],
    ],
    [
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }] },
      [
        `${inContainer}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      ],
    ],
    [
      { envFrom: [{}] },
      [`${inContainer}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``],
    ],
    [
      {
        volumeMounts: [
          { name: 'nope', mountPath: '/x' },
          { name: 'nope', mountPath: '/x' },
        ],
      },
      [
        `${inContainer}.volumeMounts[0].name: Not found: "nope"`,
        `${inContainer}.volumeMounts[1].name: Not found: "nope"`,
        `${inContainer}.volumeMounts[1].mountPath: Invalid value: "/x": must be unique`,
      ],
    ],
    [
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      [`${inContainer}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
    ],
    [
      { resources: { requests: { 'example.com/gpu': '1' } } },
      [`${inContainer}.resources.limits: Required value: Limit must be set for non overcommitable resources`],
    ],
    [
      { resources: { limits: { pods: '1' } } },
      [`${inContainer}.resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers`],
    ],
    [
      { resources: { limits: { 'hugepages-2Mi': '3Mi' } } },
      [
        `${inContainer}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
        `${inContainer}.resources: Forbidden: HugePages require cpu or memory`,
      ],
    ],
    [
      { resources: { claims: [{ name: 'x' }] } },
      [
        `${inContainer}.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty`,
      ],
    ],
    [{ livenessProbe: {} }, [`${inContainer}.livenessProbe: Required value: must specify a handler type`]],
    [
      { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2, periodSeconds: -1 } },
      [
        `${inContainer}.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`,
        `${inContainer}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
      ],
    ],
    [
      { readinessProbe: { exec: {}, httpGet: { port: 'p' } } },
      [
        `${inContainer}.readinessProbe.exec.command: Required value`,
        `${inContainer}.readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type`,
      ],
    ],
    [
      { lifecycle: { preStop: { sleep: { seconds: 60 } } } },
      [
        `${inContainer}.lifecycle.preStop.sleep: Invalid value: 60: must be non-negative and less than terminationGracePeriodSeconds (30)`,
      ],
    ],
    [
      { securityContext: { allowPrivilegeEscalation: false, privileged: true } },
      [
        expect.stringMatching(
          /containers\[0\]\.securityContext: Invalid value: \{"Capabilities":null,"Privileged":true,.*\}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true$/,
        ),
      ],
    ],
    [
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      [
        `${inContainer}.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
      ],
    ],
    [
      { restartPolicyRules: [{ action: 'X' }] },
      [
        `${inContainer}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
        `${inContainer}.restartPolicyRules[0].action: Unsupported value: "X": supported values: "Restart"`,
        `${inContainer}.restartPolicyRules[0].exitCodes: Required value: must be specified`,
      ],
    ],
  ])('the container %j', (container, errors) => {
    expect(containerErrors(container)).toEqual(errors)
  })

  test('probes of ordinary init containers', () => {
    const init = { name: 'i', image: 'i', livenessProbe: { tcpSocket: { port: 1 } } }
    expect(errorsOf({ initContainers: [init] })).toEqual([
      `${at}.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always`,
    ])
    expect(errorsOf({ initContainers: [{ ...init, restartPolicy: 'Always' }] })).toEqual([])
  })

  test('annotations that contradict the spec', () => {
    const annotations = {
      'controller.kubernetes.io/pod-deletion-cost': '01',
      'kubernetes.io/config.mirror': 'x',
      'container.apparmor.security.beta.kubernetes.io/z': 'y',
    }
    expect(errorsOf({}, { annotations })).toEqual([
      'template.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      'template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "01": must be a 32bit integer',
      'template.annotations[container.apparmor.security.beta.kubernetes.io/z]: Invalid value: "z": container not found',
      'template.annotations[container.apparmor.security.beta.kubernetes.io/z]: Invalid value: "y": invalid AppArmor profile name: "y"',
    ])
  })
})
