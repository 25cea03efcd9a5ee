// docs/reference/metrics.md lists every metric of an operator. `npm test -- test/metric-reference -u` rewrites it.
import { join } from 'node:path'
import { VirtualClock } from '@kubewright/base'
import { createMetricRegistry, type MetricDefinition, managerMetrics, measureProcess } from '@kubewright/runtime'
import { expect, test } from 'vitest'

/** The definitions that measuring a process adds. */
function processMetrics(): MetricDefinition[] {
  const defined: MetricDefinition[] = []
  const registry = createMetricRegistry()
  const { define } = registry
  registry.define = (definitions) => {
    defined.push(...definitions)
    define.call(registry, definitions)
  }
  measureProcess(registry, { process, clock: new VirtualClock() })[Symbol.dispose]()
  return defined
}

const isOurs = ({ name }: MetricDefinition): boolean => name.startsWith('kubewright_')

test('docs/reference/metrics.md lists the metrics of an operator', async () => {
  const table = (definitions: readonly MetricDefinition[]): string =>
    [
      '| metric | type | labels | meaning |',
      '|---|---|---|---|',
      ...definitions
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, type, labels = [], help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`),
    ].join('\n')
  const page = `# Metrics

What \`run\` serves at \`/metrics\`. Names, labels and buckets of the first table are those of controller-runtime and client-go, so that
their dashboards and alerts keep working; conflicts and hot loops are additions to them. The \`rest_client_*\` metrics other than \`rest_client_requests_total\` are measured with
\`run(operator, { requestDetails: true })\` only.

${table(managerMetrics.filter((definition) => !isOurs(definition)))}

## Kubewright's own

${table(managerMetrics.filter(isOurs))}

## The process

${table(processMetrics())}
`
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, '../docs/reference/metrics.md'))
})
