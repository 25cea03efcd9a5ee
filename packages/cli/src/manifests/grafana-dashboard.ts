interface Panel {
  readonly title: string
  readonly unit: string
  /** Queries by the legend of their lines. */
  readonly queries: Readonly<Record<string, string>>
}

const all = 'job=~"$job",namespace=~"$namespace"'
const rate = (metric: string, by: string, more = ''): string =>
  `sum by (${by}) (rate(${metric}{${all}${more}}[$__rate_interval]))`
const quantile = (q: number, metric: string, by: string): string =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket{${all}}[$__rate_interval])))`
const sum = (metric: string, by: string): string => `sum by (${by}) (${metric}{${all}})`

const rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: 'Reconciles',
    panels: [
      {
        title: 'Reconciles per second',
        unit: 'ops',
        queries: { '{{controller}} {{result}}': rate('controller_runtime_reconcile_total', 'controller, result') },
      },
      {
        title: 'Failures per second',
        unit: 'ops',
        queries: {
          '{{controller}} errors': rate('controller_runtime_reconcile_errors_total', 'controller'),
          '{{controller}} terminal errors': rate('controller_runtime_terminal_reconcile_errors_total', 'controller'),
          '{{controller}} conflicts': rate('kubewright_reconcile_conflicts_total', 'controller'),
        },
      },
      {
        title: 'Reconcile duration',
        unit: 's',
        queries: {
          '{{controller}} p50': quantile(0.5, 'controller_runtime_reconcile_time_seconds', 'controller'),
          '{{controller}} p99': quantile(0.99, 'controller_runtime_reconcile_time_seconds', 'controller'),
        },
      },
      {
        title: 'Workers',
        unit: 'short',
        queries: {
          '{{controller}} busy': sum('controller_runtime_active_workers', 'controller'),
          '{{controller}} maximum': sum('controller_runtime_max_concurrent_reconciles', 'controller'),
        },
      },
    ],
  },
  {
    title: 'Queues',
    panels: [
      { title: 'Queue depth', unit: 'short', queries: { '{{name}}': sum('workqueue_depth', 'name') } },
      {
        title: 'Adds and retries per second',
        unit: 'ops',
        queries: {
          '{{name}} added': rate('workqueue_adds_total', 'name'),
          '{{name}} retried': rate('workqueue_retries_total', 'name'),
        },
      },
      {
        title: 'Time in queue',
        unit: 's',
        queries: {
          '{{name}} p50': quantile(0.5, 'workqueue_queue_duration_seconds', 'name'),
          '{{name}} p99': quantile(0.99, 'workqueue_queue_duration_seconds', 'name'),
        },
      },
      {
        title: 'Unfinished work',
        unit: 's',
        queries: {
          '{{name}} all': sum('workqueue_unfinished_work_seconds', 'name'),
          '{{name}} longest': `max by (name) (workqueue_longest_running_processor_seconds{${all}})`,
        },
      },
    ],
  },
  {
    title: 'Cluster',
    panels: [
      {
        title: 'Requests to the API server per second',
        unit: 'ops',
        queries: { '{{method}} {{code}}': rate('rest_client_requests_total', 'method, code') },
      },
      {
        title: 'Writes of children and status per second',
        unit: 'ops',
        queries: {
          'children {{result}}': rate('kubewright_child_applies_total', 'result'),
          'status {{result}}': rate('kubewright_status_writes_total', 'result'),
        },
      },
      {
        title: 'Objects in caches',
        unit: 'short',
        queries: { '{{group}} {{resource}}': sum('kubewright_informer_store_objects', 'group, resource') },
      },
      {
        title: 'Webhook responses per second',
        unit: 'ops',
        queries: { '{{webhook}} {{code}}': rate('controller_runtime_webhook_requests_total', 'webhook, code') },
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: { '{{pod}}': rate('process_cpu_seconds_total', 'pod') },
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: {
          '{{pod}} resident': sum('process_resident_memory_bytes', 'pod'),
          '{{pod}} heap': sum('nodejs_heap_size_used_bytes', 'pod'),
        },
      },
      {
        title: 'Event loop lag',
        unit: 's',
        queries: { '{{pod}}': `max by (pod) (nodejs_eventloop_lag_seconds{${all}})` },
      },
      {
        title: 'Leaders',
        unit: 'short',
        queries: { '{{name}}': sum('leader_election_master_status', 'name') },
      },
    ],
  },
]

const width = 12
const height = 8

/** The JSON of a Grafana dashboard for the metrics of an operator. */
export function grafanaDashboard(operator: string): string {
  const panels: object[] = []
  let y = 0
  for (const row of rows) {
    panels.push({ gridPos: { h: 1, w: 24, x: 0, y: y++ }, id: panels.length + 1, title: row.title, type: 'row' })
    row.panels.forEach((panel, index) => {
      const x = (index % 2) * width
      panels.push(panelOf(panel, panels.length + 1, { h: height, w: width, x, y: y + Math.floor(index / 2) * height }))
    })
    y += Math.ceil(row.panels.length / 2) * height
  }
  const dashboard = {
    annotations: { list: [] },
    editable: true,
    graphTooltip: 1,
    panels,
    refresh: '30s',
    schemaVersion: 39,
    tags: ['kubewright', 'operator'],
    templating: {
      list: [
        { name: 'datasource', query: 'prometheus', type: 'datasource' },
        variable('job', 'label_values(controller_runtime_reconcile_total, job)'),
        variable('namespace', 'label_values(controller_runtime_reconcile_total{job=~"$job"}, namespace)'),
      ],
    },
    time: { from: 'now-1h', to: 'now' },
    title: `${operator}: controllers`,
    uid: `${operator}-controllers`.slice(0, 40),
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

function panelOf({ title, unit, queries }: Panel, id: number, gridPos: object): object {
  const datasource = { type: 'prometheus', uid: '$' + '{datasource}' }
  return {
    datasource,
    fieldConfig: { defaults: { unit }, overrides: [] },
    gridPos,
    id,
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      datasource,
      expr,
      legendFormat,
      refId: String.fromCharCode(65 + index),
    })),
    title,
    type: 'timeseries',
  }
}

function variable(name: string, query: string): object {
  return {
    datasource: { type: 'prometheus', uid: '$' + '{datasource}' },
    includeAll: true,
    multi: true,
    name,
    query,
    refresh: 2,
    type: 'query',
  }
}
