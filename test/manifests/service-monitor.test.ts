import { expect, test } from 'vitest'
import { operator as home } from '../../examples/home/src/operator.ts'
import { chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { renderChart } from './render-chart.ts'

test('serviceMonitor() verifies the certificate of cert-manager, which names the metrics service', () => {
  const objects = installObjects(describeOperator(home), { certManager: true, prometheus: true })
  const specOf = (kind: string): Record<string, unknown> =>
    objects.find((object: Manifest) => object.kind === kind)?.['spec'] as Record<string, unknown>
  const [endpoint] = specOf('ServiceMonitor')['endpoints'] as { tlsConfig: { ca: object; serverName: string } }[]
  const { dnsNames, secretName } = specOf('Certificate') as { dnsNames: string[]; secretName: string }
  expect(endpoint?.tlsConfig.ca).toEqual({ secret: { key: 'ca.crt', name: secretName } })
  expect(dnsNames).toContain(endpoint?.tlsConfig.serverName)
  expect(JSON.stringify(specOf('Deployment'))).toContain('--metrics-cert-path=')
  expect(JSON.stringify(objects)).not.toContain('insecureSkipVerify')
})

test.each([true, false])('chartFiles() verifies the metrics server if cert-manager is enabled: %s', (enabled) => {
  const files = chartFiles({ name: home.name, config: manifestsOf(home) })
  const monitoring = { serviceMonitor: { enabled: true }, rules: { enabled: true } }
  const values = { metrics: monitoring, webhook: { certificates: { mode: enabled ? 'cert-manager' : 'self-managed' } } }
  const made = renderChart({ files, values, namespace: 'homes' }).filter(({ apiVersion }) =>
    /monitoring/.test(apiVersion),
  )
  const rendered = JSON.stringify(made)
  expect(rendered.includes('insecureSkipVerify')).toBe(!enabled)
  expect(rendered.includes('metrics-service.homes.svc')).toBe(enabled)
  expect(made.map(({ kind }) => kind)).toEqual(['ServiceMonitor', 'PrometheusRule'])
})
