import { defineResource } from '@kubewright/api'
import { Pod } from '@kubewright/k8s'
import { defineOperator, defineWebhook, type Webhook } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, it } from 'vitest'
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
  it('excludes the namespace of the operator for built-in kinds', () => {
    const [selector] = selectorsOf(defineWebhook(Pod, { validate }))
    const own = { key: 'app.kubernetes.io/name', operator: 'NotIn', values: ['homes'] }
    expect(selector).toEqual({ matchExpressions: [own] })
    const [namespace] = installObjects(described()).filter(({ kind }) => kind === 'Namespace')
    expect(namespace?.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'homes' })
  })

  it('excludes it by name in charts, because the namespace has no labels', () => {
    const chart = chartFiles(described(defineWebhook(Pod, { validate })))
    expect(chart.get('dist/chart/templates/webhook/webhooks.yaml')?.text).toContain(`  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - {{ .Release.Namespace }}
`)
  })

  it('keeps explicit selectors, and adds none for failurePolicy Ignore and custom resources', () => {
    const namespaceSelector = { matchLabels: { homes: 'checked' } }
    expect(selectorsOf(defineWebhook(Pod, { validate, namespaceSelector }))).toEqual([namespaceSelector])
    expect(selectorsOf(defineWebhook(Pod, { validate, failurePolicy: 'Ignore' }))).toEqual([undefined])
    expect(selectorsOf(defineWebhook(Home, { validate }))).toEqual([undefined])
  })
})
