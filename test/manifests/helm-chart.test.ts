// The chart renders to the objects of config/default, depending on its values. With Helm on PATH, both renderers must agree.
import { parseYaml } from '@kubewright/api'
import type { Operator } from '@kubewright/runtime'
import { beforeEach, describe, expect, test } from 'vitest'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { valuesInSchema, valuesSchema } from '../../packages/cli/src/manifests/chart-values.ts'
import { buildConfig } from '../../packages/cli/src/manifests/config-build.ts'
import { chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import type { ManifestOptions } from '../../packages/cli/src/manifests/manifest-options.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { type DescribeOptions, describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { planFiles } from '../../packages/cli/src/manifests/plan-files.ts'
import { helmMissing, helmTemplate, renderChart, type Values } from './render-chart.ts'

const chartOf = (operator: Operator, options: ManifestOptions & DescribeOptions = {}, version = '1.2.3') =>
  chartFiles({ name: operator.name, config: manifestsOf(operator, options), version })

const render = (operator: Operator, values: Values = {}, options: ManifestOptions & DescribeOptions = {}) =>
  renderChart({ files: chartOf(operator, options), values, namespace: `${operator.name}-system` })

const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
const byId = (objects: readonly Manifest[]) => new Map(objects.map((object) => [idOf(object), tidy(object)]))
const idsOf = (objects: readonly Manifest[]) => objects.map(idOf)

/** Removes parts in which the chart and install.yaml differ on purpose. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([field, inner]) => [field, tidy(inner)] as const)
  return Object.fromEntries(
    fields.filter(
      ([field, inner]) =>
        inner !== undefined &&
        !['helm.sh/resource-policy', 'imagePullPolicy', 'app.kubernetes.io/managed-by'].includes(field),
    ),
  )
}

/** The objects of an installation that a chart contains too: Helm creates the namespace. */
const withoutNamespace = (objects: ReadonlyMap<string, unknown>) =>
  new Map([...objects].filter(([id]) => !id.startsWith('Namespace ')))

const all: ManifestOptions = { certManager: true, prometheus: true, networkPolicy: true }

describe('chartFiles()', () => {
  test.each<[string, Operator, ManifestOptions & DescribeOptions]>([
    ['AppService', appService, { image: 'example.com/app:v1' }],
    ['AppService in its own namespace', appService, { namespaced: true }],
    ['Home', home, { image: `example.com/app@sha256:${'a'.repeat(64)}` }],
    ['Home with all options', home, all],
  ])('renders to the objects of install.yaml for %s', (_, operator, options) => {
    const wanted = installObjects(describeOperator(operator, options), options)
    expect(byId(render(operator, {}, options))).toEqual(withoutNamespace(byId(wanted)))
  })

  test.each<[string, Values, ManifestOptions]>([
    ['cert-manager', { webhook: { certificates: { mode: 'cert-manager' } } }, { certManager: true }],
    ['Prometheus', { metrics: { serviceMonitor: { enabled: true }, rules: { enabled: true } } }, { prometheus: true }],
    ['network policies', { networkPolicy: { enabled: true } }, { networkPolicy: true }],
  ])('renders to what generate writes with the flag for %s', (_, values, options) => {
    const wanted = installObjects(describeOperator(home), options)
    expect(byId(render(home, values))).toEqual(withoutNamespace(byId(wanted)))
    // The other way round: values turn off what config/default includes.
    const off = {
      metrics: { serviceMonitor: { enabled: false }, rules: { enabled: false } },
      webhook: { certificates: { mode: 'self-managed' } },
      networkPolicy: { enabled: false },
    }
    expect(byId(render(home, off, options))).toEqual(withoutNamespace(byId(installObjects(describeOperator(home)))))
  })

  test('omits the parts that the values disable', () => {
    const off = (section: string) => idsOf(render(home, { [section]: { enabled: false } }))
    expect(off('crd').some((id) => id.startsWith('CustomResourceDefinition'))).toBe(false)
    expect(off('webhook').filter((id) => /webhook/i.test(id))).toEqual([])
    expect(off('metrics').filter((id) => /metrics-(service|auth|reader)/.test(id))).toEqual([])
    const helpers = idsOf(render(home, { rbac: { helpers: { enabled: false } } }))
    expect(helpers.filter((id) => /-(admin|editor|viewer)-role/.test(id))).toEqual([])
  })

  test('disables webhooks in the program, and conversion in the CRD', () => {
    const made = JSON.stringify(render(home, { webhook: { enabled: false, certificates: { mode: 'cert-manager' } } }))
    expect(made).toContain('{"name":"ENABLE_WEBHOOKS","value":"false"}')
    expect(made).not.toMatch(/conversionReviewVersions|cert-manager|webhook-cert/)
  })

  test('mounts a given certificate and registers its CA, without objects of cert-manager', () => {
    const certificates = { mode: 'given', secretName: 'mine', caBundle: 'Q0E=' }
    const made = render(home, { webhook: { certificates } })
    const hooks = made.filter(({ kind }) => /WebhookConfiguration$|^CustomResource/.test(kind))
    expect(hooks).toHaveLength(3)
    for (const hook of hooks) expect(JSON.stringify(hook)).toContain('"caBundle":"Q0E="')
    const deployment = made.find(({ kind }) => kind === 'Deployment')
    expect(JSON.stringify(deployment)).toContain('"secret":{"secretName":"mine"}')
    expect(JSON.stringify(deployment)).toContain('--webhook-cert-path=')
    expect(idsOf(made).filter((id) => /Issuer|Certificate|webhook-(cert|trust)/.test(id))).toEqual([])
    expect(JSON.stringify(made)).not.toContain('inject-ca-from')
  })

  test('escapes the braces of alerts for Prometheus', () => {
    const made = byId(render(home, { metrics: { rules: { enabled: true } } }))
    const id = 'PrometheusRule home-operator-system/home-operator-controller-manager-rules'
    expect(JSON.stringify(made.get(id))).toContain('{{ $labels.controller }}')
  })

  test('replaces variables of config/ by those of the values, and keeps the others', () => {
    const config = manifestsOf(appService, { namespaced: true })
    const path = 'config/manager/manager.yaml'
    config.set(
      path,
      config.get(path)!.replace('        env:\n', '        env:\n        - name: A\n          value: "1"\n'),
    )
    const files = chartFiles({ name: appService.name, config })
    const env = (values: Values): unknown => {
      const made = renderChart({ files, values, namespace: 'apps' }).find(({ kind }) => kind === 'Deployment')
      return (made as unknown as { spec: { template: { spec: { containers: [{ env: unknown }] } } } }).spec.template
        .spec.containers[0].env
    }
    const own = { name: 'WATCH_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }
    expect(env({})).toEqual([{ name: 'A', value: '1' }, own])
    const more = [
      { name: 'A', value: '2' },
      { name: 'B', value: '3' },
    ]
    expect(env({ manager: { env: more } })).toEqual([own, ...more])
  })

  test('keeps the files of the user, merges changed values and updates the versions', () => {
    const config = manifestsOf(home)
    const before = chartOf(home, {}, '1.0.0')
    const text = (path: string): string => before.get(`dist/chart/${path}`)!.text
    const present = new Map([...before].map(([path, file]) => [path, file.text]))
    present.set('dist/chart/values.yaml', text('values.yaml').replace('replicas: 1', 'replicas: 3'))
    present.set('dist/chart/Chart.yaml', `${text('Chart.yaml')}keywords:\n- mine\n`)
    present.set('dist/chart/templates/mine.yaml', 'kind: Mine\n')
    present.set('dist/chart/templates/NOTES.txt', `${text('templates/NOTES.txt')}Mine.\n`)
    const path = 'config/manager/manager.yaml'
    config.set(path, config.get(path)!.replace('memory: 256Mi', 'memory: 512Mi'))
    const plans = planFiles({ files: chartFiles({ name: home.name, config, version: '2.0.0', present }), present })
    const plan = (file: string) => plans.find((one) => one.path === `dist/chart/${file}`)
    expect(plan('values.yaml')).toMatchObject({ action: 'merge' })
    expect(plan('values.yaml')?.after).toContain('replicas: 3')
    expect(plan('values.yaml')?.after).toContain('memory: 512Mi')
    expect(parseYaml(plan('Chart.yaml')!.after!)).toMatchObject({
      keywords: ['mine'],
      version: '2.0.0',
      appVersion: '2.0.0',
    })
    expect(plan('templates/mine.yaml')).toBeUndefined()
    expect(plan('templates/NOTES.txt')?.action).toBe('kept')
  })
})

describe('valuesInSchema()', () => {
  test('returns the values that were generated last, without new ones', () => {
    const value = (path: string, of: unknown) => ({ path, comment: 'A value.', default: of, schema: {} })
    const old = [value('a.b', 1), value('c', [])]
    const schema = valuesSchema(old, [])
    expect(valuesInSchema(schema, [value('a.b', 2), value('a.new', 3), value('c', ['d'])])).toEqual(old)
    expect(valuesInSchema('{', old)).toBeUndefined()
  })
})

/** A value for every value of the chart that differs from its default. */
const changed: Values = {
  manager: {
    image: { repository: 'other/home', tag: 'v9', digest: '', pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'registry' }],
    replicas: 2,
    args: ['--log-level=debug', 'a: "b"'],
    env: [{ name: 'A', value: 'b' }],
    resources: { limits: { memory: '1Gi' } },
    podLabels: { team: 'homes', 'control-plane': 'ignored' },
    podAnnotations: { note: 'yes' },
    podSecurityContext: { runAsNonRoot: true, runAsUser: 1000 },
    securityContext: { readOnlyRootFilesystem: true },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    priorityClassName: 'high',
  },
  namespace: { create: true, name: 'there', labels: { team: 'homes' }, annotations: { a: 'b' } },
  serviceAccount: { create: true, name: 'mine', annotations: { role: 'arn' } },
  rbac: { helpers: { enabled: false } },
  crd: { enabled: true, keep: false },
  webhook: { enabled: true, certificates: { mode: 'given', secretName: 'mine', caBundle: 'Q0E=' } },
  metrics: {
    enabled: true,
    serviceMonitor: {
      enabled: true,
      labels: { release: 'prom' },
      interval: '30s',
      tlsConfig: { insecureSkipVerify: false },
    },
    rules: { enabled: true, labels: { release: 'prom' } },
  },
  networkPolicy: { enabled: true },
}

describe('the values of a chart', () => {
  const leaves = (value: unknown, path = ''): string[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}/${key}`))
      : [path]

  test('all reach the objects', () => {
    const made = render(home, changed)
    const find = (kind: string) => made.find((object) => object.kind === kind)
    expect(find('Deployment')).toMatchObject({
      metadata: { namespace: 'there' },
      spec: {
        replicas: 2,
        template: {
          metadata: {
            labels: { team: 'homes', 'control-plane': 'controller-manager' },
            annotations: { note: 'yes' },
          },
          spec: {
            serviceAccountName: 'mine',
            imagePullSecrets: [{ name: 'registry' }],
            nodeSelector: { disk: 'fast' },
            tolerations: [{ key: 'a', operator: 'Exists' }],
            affinity: { nodeAffinity: {} },
            topologySpreadConstraints: [{ maxSkew: 1 }],
            priorityClassName: 'high',
            securityContext: { runAsUser: 1000 },
            containers: [
              {
                image: 'other/home:v9',
                imagePullPolicy: 'Always',
                env: [{ name: 'A', value: 'b' }],
                resources: { limits: { memory: '1Gi' } },
                securityContext: { readOnlyRootFilesystem: true },
                args: expect.arrayContaining(['--log-level=debug', 'a: "b"']) as string[],
              },
            ],
          },
        },
      },
    })
    expect(find('Namespace')?.metadata).toMatchObject({
      name: 'there',
      labels: { team: 'homes' },
      annotations: { a: 'b' },
    })
    expect(find('ServiceAccount')?.metadata).toMatchObject({ name: 'mine', annotations: { role: 'arn' } })
    for (const binding of made.filter(({ kind }) => kind.endsWith('Binding')))
      expect(binding['subjects']).toMatchObject([{ kind: 'ServiceAccount', name: 'mine', namespace: 'there' }])
    expect(find('ServiceMonitor')).toMatchObject({
      metadata: { labels: { release: 'prom' } },
      spec: { endpoints: [{ interval: '30s', tlsConfig: { insecureSkipVerify: false } }] },
    })
    expect(find('PrometheusRule')?.metadata.labels).toMatchObject({ release: 'prom' })
    expect(find('CustomResourceDefinition')?.metadata.annotations).not.toHaveProperty('helm.sh/resource-policy')
    expect(idsOf(made).filter((id) => id.startsWith('NetworkPolicy'))).toHaveLength(2)
    const digest = `sha256:${'a'.repeat(64)}`
    const pinned = render(home, { manager: { image: { repository: 'r', digest } } })
    expect(JSON.stringify(pinned)).toContain(`"image":"r@${digest}"`)
    expect(idsOf(render(home, { serviceAccount: { create: false, name: 'x' } }))).not.toContain('ServiceAccount')
  })

  test('are all described by the schema, and all changed by this test', () => {
    const files = chartOf(home)
    const values = parseYaml(files.get('dist/chart/values.yaml')!.text)
    const schema = JSON.parse(files.get('dist/chart/values.schema.json')!.text) as object
    const known = (node: unknown, path = ''): string[] => {
      const { properties } = node as { properties?: Record<string, unknown> }
      if (properties === undefined) return [path]
      return Object.entries(properties).flatMap(([key, inner]) => known(inner, `${path}/${key}`))
    }
    const described = known(schema).filter((path) => path !== '/global')
    for (const path of leaves(values))
      expect(
        described.some((one) => path === one || path.startsWith(`${one}/`)),
        path,
      ).toBe(true)
    for (const path of described) {
      const isChanged = leaves(changed).some((one) => one === path || one.startsWith(`${path}/`))
      expect(isChanged, path).toBe(true)
    }
    expect(JSON.stringify(values)).not.toMatch(/password|token|privateKey/i)
  })
})

describe('helm template', () => {
  beforeEach(({ skip }) => {
    const reason = helmMissing()
    if (reason !== undefined) skip(reason)
  })
  const same = (options: Parameters<typeof renderChart>[0]) =>
    expect(byId(helmTemplate(options))).toEqual(byId(renderChart(options)))

  test.each<[string, Operator, Values]>([
    ['default values', home, {}],
    ['default values of an operator without webhooks', appService, {}],
    ['every value changed', home, changed],
    ['everything off', home, { webhook: { enabled: false }, metrics: { enabled: false }, crd: { enabled: false } }],
    ['certificates of cert-manager', home, { webhook: { certificates: { mode: 'cert-manager' } } }],
    ['a numeric namespace', home, { namespace: { name: '123' } }],
  ])('renders the same objects with %s', (_, operator, values) => {
    same({ files: chartOf(operator, { ...all, certManager: false }), values, namespace: 'homes' })
  })

  test.each<[string, Values, RegExp]>([
    ['an unknown value', { manger: {} }, /additional properties 'manger' not allowed/],
    ['a wrong type', { manager: { replicas: 'two' } }, /manager\/replicas|manager\.replicas/],
    ['a given certificate without its Secret', { webhook: { certificates: { mode: 'given' } } }, /secretName/],
    ['an existing account without its name', { serviceAccount: { create: false } }, /serviceAccount/],
    ['a digest of another form', { manager: { image: { digest: 'latest' } } }, /digest/],
  ])('rejects %s', (_, values, message) => {
    expect(() => helmTemplate({ files: chartOf(home), values, namespace: 'homes' })).toThrow(message)
  })
})

describe('buildConfig()', () => {
  test('lets values and config/ agree on the objects, without a namespace of the chart', () => {
    const config = manifestsOf(home)
    expect(buildConfig(config).map(({ object }) => object)).toEqual(installObjects(describeOperator(home)))
  })
})
