import { describe, expect, test } from 'vitest'
import type { PodSpec } from '../../builtins/core/pod/pod-types.ts'
import { checkedPod } from './security-check.ts'
import { detailText, levelText, policyOf, violationsOf } from './security-policy.ts'

const container = (securityContext?: object, more: object = {}): object => ({
  name: 'c',
  image: 'i',
  ...(securityContext ? { securityContext } : {}),
  ...more,
})
/** A pod that satisfies the restricted level. */
const safe = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}
const spec = (more: object): PodSpec => ({ containers: [container(safe)], ...more }) as PodSpec
const detail = (
  level: 'baseline' | 'restricted',
  pod: object,
  minor?: number,
  annotations: Record<string, string> = {},
): string => detailText(violationsOf(checkedPod({ metadata: { annotations }, spec: spec(pod) }), { level, minor }))

describe('violationsOf() at the baseline level', () => {
  test.each<[string, object, string]>([
    ['nothing special', {}, ''],
    [
      'host namespaces',
      { hostNetwork: true, hostPID: true, hostIPC: true },
      'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    ],
    [
      'privileged containers',
      {
        containers: [container({ privileged: true })],
        initContainers: [container({ privileged: true }, { name: 'i' })],
      },
      'privileged (containers "i", "c" must not set securityContext.privileged=true)',
    ],
    [
      'capabilities',
      { containers: [container({ capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'BPF'] } })] },
      'non-default capabilities (container "c" must not include "BPF", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    ['host paths', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "v")'],
    [
      'host ports',
      { containers: [container(undefined, { ports: [{ hostPort: 80 }, { hostPort: 443 }, { containerPort: 1 }] })] },
      'hostPort (container "c" uses hostPorts 443, 80)',
    ],
    [
      'hosts of probes',
      {
        containers: [
          container(undefined, {
            livenessProbe: { httpGet: { host: 'h' } },
            lifecycle: { preStop: { tcpSocket: { host: 'g' } } },
          }),
        ],
      },
      'probe or lifecycle host (container "c" uses probe or lifecycle hosts "g", "h")',
    ],
    [
      'AppArmor',
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
    ],
    [
      'SELinux',
      {
        securityContext: { seLinuxOptions: { user: 'u' } },
        containers: [container({ seLinuxOptions: { type: 'spc_t', role: 'r' } })],
      },
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      'unmasked proc',
      { containers: [container({ procMount: 'Unmasked' })] },
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'seccomp',
      { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'sysctls',
      { securityContext: { sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_rmem' }] } },
      'forbidden sysctls (kernel.msgmax)',
    ],
    [
      'Windows host processes',
      { securityContext: { windowsOptions: { hostProcess: true } } },
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  ])('finds %s', (_, pod, expected) => {
    expect(detail('baseline', pod)).toBe(expected)
  })

  test('finds forbidden annotations', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }
    expect(detail('baseline', {}, undefined, annotations)).toBe(
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
    )
    expect(detail('baseline', {}, 18, { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' })).toBe(
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    )
  })

  test('uses the rules of the given version', () => {
    const tcp = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } }
    expect(detail('baseline', tcp, 31)).toBe('forbidden sysctls (net.ipv4.tcp_rmem)')
    expect(detail('baseline', tcp, 32)).toBe('')
    const probe = { containers: [container(undefined, { startupProbe: { tcpSocket: { host: 'h' } } })] }
    expect(detail('baseline', probe, 33)).toBe('')
    const unmasked = { hostUsers: false, containers: [container({ procMount: 'Unmasked' })] }
    expect(detail('baseline', unmasked)).toBe('')
    expect(detail('baseline', unmasked, 34)).toMatch(/^procMount/)
    expect(detail('baseline', tcp, 99)).toBe('')
  })
})

describe('violationsOf() at the restricted level', () => {
  test('accepts a pod with all settings and reports every missing one', () => {
    expect(detail('restricted', {})).toBe('')
    expect(detail('restricted', { containers: [container()] })).toBe(
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    )
  })

  test.each<[string, object, string]>([
    [
      'root',
      { securityContext: { runAsNonRoot: false, runAsUser: 0 }, containers: [container({ ...safe, runAsUser: 0 })] },
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "c" must not set runAsUser=0)',
    ],
    [
      'volumes',
      {
        volumes: [
          { name: 'a', hostPath: {} },
          { name: 'b', nfs: {} },
          { name: 'd', emptyDir: {} },
        ],
      },
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'capabilities',
      { containers: [container({ ...safe, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'CHOWN'] } })] },
      'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
  ])('finds %s', (_, pod, expected) => {
    expect(detail('restricted', pod)).toBe(expected)
  })

  test('requires no Linux settings of Windows pods', () => {
    expect(detail('restricted', { os: { name: 'windows' }, containers: [container({ runAsNonRoot: true })] })).toBe('')
  })
})

describe('policyOf()', () => {
  const read = (labels: Record<string, string>): string[] => {
    const { policy } = policyOf(
      Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v])),
    )
    return [policy.enforce, policy.audit, policy.warn].map(levelText)
  }

  test.each<[Record<string, string>, string[]]>([
    [{}, ['privileged:latest', 'privileged:latest', 'privileged:latest']],
    [{ enforce: 'baseline', 'enforce-version': 'v1.30' }, ['baseline:v1.30', 'privileged:latest', 'baseline:v1.30']],
    [{ enforce: 'restricted', warn: 'baseline' }, ['restricted:latest', 'privileged:latest', 'baseline:latest']],
    [
      { enforce: 'restricted', 'warn-version': 'v1.20' },
      ['restricted:latest', 'privileged:latest', 'restricted:v1.20'],
    ],
    [
      { enforce: 'nonsense', audit: 'nonsense', warn: 'nonsense' },
      ['restricted:latest', 'privileged:latest', 'privileged:latest'],
    ],
  ])('parses %o', (labels, expected) => {
    expect(read(labels)).toEqual(expected)
  })

  test('reports invalid labels', () => {
    const { errors } = policyOf({
      'pod-security.kubernetes.io/enforce': 'x',
      'pod-security.kubernetes.io/audit-version': '1',
    })
    expect(errors.map(String)).toEqual([
      'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
      'metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "1": must be "latest" or "v1.x"',
    ])
  })
})
