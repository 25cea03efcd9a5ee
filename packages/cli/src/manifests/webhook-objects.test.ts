import { defineResource } from '@kubewright/api'
import { Pod } from '@kubewright/k8s'
import { defineOperator, defineWebhook } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, it } from 'vitest'
import { chartFiles } from './helm-chart.ts'
import { installObjects } from './install-objects.ts'
import { describeOperator } from './operator-description.ts'

const Home = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Home', spec: s.object({}) })
const validate = (): [] => []
const described = (...webhooks: ReturnType<typeof defineWebhook>[]) =>
  describeOperator(defineOperator({ name: 'homes', controllers: [], webhooks }))

function selectorsOf(...webhooks: ReturnType<typeof defineWebhook>[]): unknown[] {
  const [configuration] = installObjects(described(...webhooks)).filter(({ kind }) => kind.endsWith('Configuration'))
  return (configuration!['webhooks'] as { namespaceSelector?: object }[]).map((one) => one.namespaceSelector)
}

describe('webhookConfigurationsOf()', () => {
  // Else the pod of the operator could not be made before the operator runs.
  it('leaves the namespace of the operator out of what is asked about built-in kinds', () => {
    const [selector] = selectorsOf(defineWebhook(Pod, { validate }))
    const own = { key: 'app.kubernetes.io/name', operator: 'NotIn', values: ['homes'] }
    expect(selector).toEqual({ matchExpressions: [own] })
    const [namespace] = installObjects(described()).filter(({ kind }) => kind === 'Namespace')
    expect(namespace?.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'homes' })
  })

  it('does so by name in charts, whose namespace has no labels', () => {
    const chart = chartFiles(described(defineWebhook(Pod, { validate })))
    expect(chart.get('dist/chart/templates/webhook/webhooks.yaml')?.text).toContain(`  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - {{ .Release.Namespace }}
`)
  })

  it('leaves alone what somebody chose, what may fail, and custom resources', () => {
    const namespaceSelector = { matchLabels: { homes: 'checked' } }
    expect(selectorsOf(defineWebhook(Pod, { validate, namespaceSelector }))).toEqual([namespaceSelector])
    expect(selectorsOf(defineWebhook(Pod, { validate, failurePolicy: 'Ignore' }))).toEqual([undefined])
    expect(selectorsOf(defineWebhook(Home, { validate }))).toEqual([undefined])
  })
})
