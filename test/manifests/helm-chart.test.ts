// The chart renders to the objects of install.yaml, depending on its values.
import { encodeYaml, parseManifests, parseYaml } from '@kubewright/api'
import type { Operator } from '@kubewright/runtime'
import { describe, expect, it } from 'vitest'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { type ChartOptions, chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { planFiles } from '../../packages/cli/src/manifests/plan-files.ts'
import { renderTemplate } from './render-template.ts'

type Values = Record<string, Record<string, unknown>>

function render(operator: Operator, change: (values: Values) => void = () => undefined, options: ChartOptions = {}) {
  const files = chartFiles(describeOperator(operator), options)
  const values = parseYaml(files.get('dist/chart/values.yaml')!.text) as Values
  change(values)
  const chart = parseYaml(files.get('dist/chart/Chart.yaml')!.text) as { appVersion: string }
  const scope = {
    Values: values,
    Release: { Namespace: `${operator.name}-system`, Service: 'kubewright', Name: 'release' },
    Chart: { AppVersion: chart.appVersion },
  }
  const objects: Manifest[] = []
  for (const [path, { text }] of files) {
    if (!/\/templates\/.*\.yaml$/.test(path)) continue
    objects.push(...(parseManifests(renderTemplate(text, scope)) as Manifest[]))
  }
  return objects
}

const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
const byId = (objects: readonly Manifest[]) => new Map(objects.map((object) => [idOf(object), tidy(object)]))

/** Removes parts in which the chart and install.yaml differ on purpose. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([field, inner]) => [field, tidy(inner)] as const)
  return Object.fromEntries(
    fields.filter(
      ([field, inner]) =>
        inner !== undefined &&
        !['helm.sh/resource-policy', 'imagePullPolicy', 'kubewright.dev/generated'].includes(field),
    ),
  )
}

const rules = (objects: readonly Manifest[], pattern: RegExp) =>
  objects
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && pattern.test(metadata.name))
    .flatMap((role) => role['rules'] as object[])
    .map((rule) => encodeYaml(rule))
    .sort()

describe('chartFiles()', () => {
  it.each([
    ['AppService', appService],
    ['Home', home],
  ])('renders to the objects of install.yaml for %s', (_, operator) => {
    const options = { image: 'example.com/app:v1' }
    const made = render(operator, undefined, options)
    const wanted = installObjects(describeOperator(operator), options)
    expect(rules(made, /manager-role|trust-role/)).toEqual(rules(wanted, /manager-role/))
    const own = byId(made)
    for (const [id, object] of byId(wanted)) {
      // Helm creates the namespace, and the permissions for certificates are in a separate role.
      if (id.startsWith('Namespace ') || id.endsWith('-manager-role')) continue
      expect(own.get(id), id).toEqual(object)
    }
    const extra = [...own.keys()].filter((id) => !byId(wanted).has(id))
    expect(extra.every((id) => id.includes('webhook-trust-'))).toBe(true)
  })

  it('leaves certificates to cert-manager if the values enable it', () => {
    const made = render(home, (values) => void (values['certManager']!['enabled'] = true))
    const wanted = installObjects(describeOperator(home), { certManager: true })
    expect(byId(made)).toEqual(new Map([...byId(wanted)].filter(([id]) => !id.startsWith('Namespace '))))
  })

  it('omits the parts that the values disable', () => {
    const ids = (change: (values: Values) => void) => render(home, change).map(idOf)
    const off = (section: string) => ids((values) => void (values[section]!['enabled'] = false))
    expect(off('crd').some((id) => id.startsWith('CustomResourceDefinition'))).toBe(false)
    expect(off('webhook').filter((id) => /webhook/i.test(id))).toEqual([])
    expect(off('metrics').filter((id) => /metrics-(service|auth)/.test(id))).toEqual([])
    const on = (section: string) => ids((values) => void (values[section]!['enabled'] = true))
    expect(on('prometheus').filter((id) => /^(ServiceMonitor|PrometheusRule)/.test(id))).toHaveLength(2)
    expect(on('networkPolicy').filter((id) => id.startsWith('NetworkPolicy'))).toHaveLength(2)
  })

  it('escapes the braces of alerts for Prometheus', () => {
    const made = byId(render(home, (values) => void (values['prometheus']!['enabled'] = true)))
    const wanted = byId(installObjects(describeOperator(home), { prometheus: true }))
    const id = 'PrometheusRule home-operator-system/home-operator-controller-manager-rules'
    expect(JSON.stringify(made.get(id))).toContain('{{ $labels.controller }}')
    expect(made.get(id)).toEqual(wanted.get(id))
  })

  it('disables webhooks in the program, and conversion in the CRD', () => {
    const made = render(home, (values) => void (values['webhook']!['enabled'] = false))
    expect(JSON.stringify(made)).toContain('{"name":"ENABLE_WEBHOOKS","value":"false"}')
    expect(JSON.stringify(made)).not.toContain('conversionReviewVersions')
  })

  it('applies the values for the pods', () => {
    const [deployment] = render(home, (values) =>
      Object.assign(values['manager']!, {
        args: ['--log-level=debug'],
        env: [{ name: 'A', value: 'b' }],
        nodeSelector: { disk: 'fast' },
        podLabels: { team: 'homes' },
        replicas: 2,
      }),
    ).filter(({ kind }) => kind === 'Deployment')
    const pod = { spec: { nodeSelector: { disk: 'fast' } }, metadata: { labels: { team: 'homes' } } }
    expect(deployment).toMatchObject({ spec: { replicas: 2, template: pod } })
    expect(JSON.stringify(deployment)).toContain('"--log-level=debug"')
    expect(JSON.stringify(deployment)).toContain('"env":[{"name":"A","value":"b"}]')
  })

  it('keeps changed values, and writes Chart.yaml only once', () => {
    const files = chartFiles(describeOperator(home), { version: '2.0.0' })
    const before = chartFiles(describeOperator(home), { image: 'old:1' })
    const text = (path: string): string => before.get(`dist/chart/${path}`)!.text
    const present = new Map([
      ['dist/chart/values.yaml', text('values.yaml').replace('replicas: 1', 'replicas: 3')],
      ['dist/chart/Chart.yaml', text('Chart.yaml')],
    ])
    const plans = planFiles({ files, present })
    expect(plans.find(({ path }) => path.endsWith('values.yaml'))?.action).toBe('outdated')
    expect(plans.find(({ path }) => path.endsWith('Chart.yaml'))?.action).toBe('kept')
  })
})
