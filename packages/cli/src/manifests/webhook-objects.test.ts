import { defineResource } from '@kubewright/api'
import { Pod } from '@kubewright/k8s'
import { defineOperator, defineWebhook, type Webhook } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { configFiles } from './config-files.ts'
import { chartFiles } from './helm-chart.ts'
import { installObjects } from './install-objects.ts'
import { describeOperator } from './operator-description.ts'

const Home = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Home', spec: s.object({}) })
const validate = (): [] => []
const described = (...webhooks: Webhook[]) =>
  describeOperator(defineOperator({ name: 'homes', controllers: [], webhooks }))

function selectorsOf(...webhooks: Webhook[]): unknown[] {
  const [configuration] = installObjects(described(...webhooks)).filter(({ kind }) => kind.endsWith('Configuration'))
  return (configuration!['webhooks'] as { namespaceSelector?: object }[]).map((one) => one.namespaceSelector)
}

describe('webhookConfigurationsOf()', () => {
  // Otherwise the pod of the operator could not be created before the operator runs.
  test('excludes the namespace of the operator for built-in kinds', () => {
    const [selector] = selectorsOf(defineWebhook(Pod, { validate }))
    const own = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['homes-system'] }
    expect(selector).toEqual({ matchExpressions: [own] })
  })

  test('excludes the namespace of the release in charts', () => {
    const config = new Map(
      [...configFiles(described(defineWebhook(Pod, { validate })))].map(([path, { text }]) => [path, text]),
    )
    const chart = chartFiles({ name: 'homes', config })
    expect(chart.get('dist/chart/templates/webhook/manifests.yaml')?.text).toContain(`  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - {{ include "homes.namespace" . | quote }}
`)
  })

  test('keeps explicit selectors, and adds none for failurePolicy Ignore and custom resources', () => {
    const namespaceSelector = { matchLabels: { homes: 'checked' } }
    expect(selectorsOf(defineWebhook(Pod, { validate, namespaceSelector }))).toEqual([namespaceSelector])
    expect(selectorsOf(defineWebhook(Pod, { validate, failurePolicy: 'Ignore' }))).toEqual([undefined])
    expect(selectorsOf(defineWebhook(Home, { validate }))).toEqual([undefined])
  })
})
