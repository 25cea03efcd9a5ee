// What is generated is secure by default.
import { startControlPlane } from '@kubewright/controlplane'
import { Namespace, Pod } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { renderChart } from './render-chart.ts'

let plane: Awaited<ReturnType<typeof startControlPlane>>
beforeAll(async () => {
  plane = await startControlPlane({ nodes: 0 })
})
afterAll(async () => plane?.[Symbol.asyncDispose]())

interface Workload {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: { readonly containers: [object] } } }
}

const all = { certManager: true, prometheus: true, networkPolicy: true }
const forms: [string, Manifest[]][] = [
  ['install.yaml of Home', installObjects(describeOperator(home))],
  ['install.yaml of Home with all options', installObjects(describeOperator(home), all)],
  ['install.yaml of AppService', installObjects(describeOperator(appService))],
  [
    'the chart of Home',
    renderChart({
      files: chartFiles({ name: home.name, config: manifestsOf(home) }),
      values: { namespace: { create: true } },
      namespace: 'home-operator-system',
    }),
  ],
]

describe.each(forms)('%s', (name, objects) => {
  const find = (kind: string) => objects.filter((object) => object.kind === kind)

  test('complies with the restricted Pod Security Standard, which its namespace enforces', async () => {
    const [namespace] = find('Namespace')
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    const client = plane.client()
    const place = `restricted-${forms.findIndex(([form]) => form === name)}`
    await client.create(Namespace({ metadata: { name: place, labels: namespace!.metadata.labels ?? {} } }))
    const [deployment] = find('Deployment') as unknown as [Workload]
    const { metadata, spec } = deployment.spec.template
    const { serviceAccountName: _, ...pod } = spec as Record<string, unknown>
    const created = { metadata: { ...metadata, name: 'pod', namespace: place }, spec: pod } as never
    await client.create(Pod(created), { dryRun: true })
    const root = { ...pod, securityContext: {} }
    const rejected = client.create(Pod({ metadata: { name: 'root', namespace: place }, spec: root } as never))
    await expect(rejected).rejects.toThrow('violates PodSecurity "restricted:latest"')
  })

  test('runs with a read-only root, without capabilities, and with limits', () => {
    const [deployment] = find('Deployment') as unknown as [Workload]
    expect(deployment.spec.template.spec.containers).toMatchObject([
      {
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
        resources: { limits: { memory: expect.any(String) as string } },
      },
    ])
  })

  test('fails closed: webhooks reject requests that they cannot check, within a time limit', () => {
    for (const object of objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
      for (const webhook of object['webhooks'] as object[])
        expect(webhook).toMatchObject({ failurePolicy: 'Fail', timeoutSeconds: 10 })
    }
  })

  test('contains no Secret, and serves metrics over HTTPS to authorized clients only', () => {
    expect(find('Secret')).toEqual([])
    const args = JSON.stringify(find('Deployment'))
    expect(args).toContain('--metrics-bind-address=:8443')
    expect(args).not.toContain('--metrics-secure=false')
    expect(find('ClusterRole').map(({ metadata }) => metadata.name)).toContainEqual(
      expect.stringMatching(/-metrics-auth-role$/),
    )
  })
})

describe('managerNamespace()', () => {
  test('does not restrict the pods of users in an operator that watches its own namespace', () => {
    const objects = installObjects(describeOperator(appService, { namespaced: true }))
    const { labels = {} } = objects.find(({ kind }) => kind === 'Namespace')!.metadata
    expect(Object.keys(labels)).not.toContain('pod-security.kubernetes.io/enforce')
  })
})
