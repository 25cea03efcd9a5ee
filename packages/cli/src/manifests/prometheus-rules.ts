import type { Manifest } from './manifest.ts'
import { type ObjectContext, ownMeta } from './object-context.ts'
import { hasWebhooks } from './operator-description.ts'

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly severity: 'warning' | 'critical'
  readonly summary: string
  readonly description: string
}

/** Alerts for what goes wrong in an operator, for Prometheus where its operator runs. */
export function prometheusRules(context: ObjectContext): Manifest {
  const rules = alertsOf(context).map(({ alert, expr, for: duration, severity, summary, description }) => ({
    alert,
    annotations: { description, summary },
    expr,
    for: duration,
    labels: { severity },
  }))
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: ownMeta(context, 'controller-manager-rules'),
    spec: { groups: [{ name: context.operator.name, rules }] },
  }
}

function alertsOf(context: ObjectContext): Alert[] {
  const { operator, options } = context
  const job = `job="${operator.name}-controller-manager-metrics-service"`
  const at = `${job},namespace="${options.namespace}"`
  return [
    {
      alert: 'OperatorDown',
      expr: `absent(up{${at}} == 1)`,
      for: '10m',
      severity: 'critical',
      summary: `No replica of ${operator.name} can be scraped`,
      description: 'Nothing is reconciled while no replica runs. See the Deployment and its pods.',
    },
    {
      alert: 'ReconcileErrors',
      expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${at}}[10m])) > 0.1 * sum by (controller) (rate(controller_runtime_reconcile_total{${at}}[10m]))`,
      for: '15m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} fails more than every tenth time',
      description: 'The log of the operator names the objects and the errors.',
    },
    {
      alert: 'ReconcileGivenUp',
      expr: `sum by (controller) (increase(controller_runtime_terminal_reconcile_errors_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} gave up on objects until they change',
      description: 'The log of the operator names the objects and the errors.',
    },
    {
      alert: 'ReconcilePanics',
      expr: `sum by (controller) (increase(controller_runtime_reconcile_panics_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} fails through a mistake in the program',
      description: 'The log of the operator has the stack.',
    },
    {
      alert: 'ReconcileHotLoop',
      expr: `sum by (controller) (increase(kubewright_hot_loops_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} reconciles objects over and over',
      description: 'Each reconcile causes the next one. The log of the operator names the objects and the fields.',
    },
    {
      alert: 'ReconcileHangs',
      expr: `max by (name) (workqueue_longest_running_processor_seconds{${at}}) > 300`,
      for: '5m',
      severity: 'warning',
      summary: 'A reconcile of {{ $labels.name }} has been running for more than five minutes',
      description: 'Give what it waits for a deadline, or the controller a timeout.',
    },
    {
      alert: 'WorkPilesUp',
      expr: `sum by (name) (workqueue_depth{${at}}) > 100 and sum by (name) (deriv(workqueue_depth{${at}}[30m])) > 0`,
      for: '30m',
      severity: 'warning',
      summary: 'Queue {{ $labels.name }} grows',
      description:
        'Objects change faster than they are reconciled: raise the concurrency, or see why reconciles take long.',
    },
    {
      alert: 'WatchesFail',
      expr: `sum by (group, resource) (increase(kubewright_informer_failures_total{${at}}[15m])) > 5`,
      for: '15m',
      severity: 'warning',
      summary: 'Lists and watches of {{ $labels.resource }} fail',
      description: 'What the operator knows grows old. Missing rights and missing definitions are told by /readyz.',
    },
    {
      alert: 'EventLoopBlocked',
      expr: `max by (pod) (nodejs_eventloop_lag_seconds{${at}}) > 1`,
      for: '10m',
      severity: 'warning',
      summary: 'The process of {{ $labels.pod }} is busy for more than a second at a time',
      description: 'Long computations keep everything else waiting, probes and Leases included.',
    },
    ...(operator.leaderElection
      ? [
          {
            alert: 'NoLeader',
            expr: `sum(leader_election_master_status{${at}}) == 0`,
            for: '5m',
            severity: 'critical' as const,
            summary: `No replica of ${operator.name} leads`,
            description: 'Nothing is reconciled. See the Lease and the rights of the operator.',
          },
        ]
      : []),
    ...(hasWebhooks(operator)
      ? [
          {
            alert: 'WebhookErrors',
            expr: `sum by (webhook) (rate(controller_runtime_webhook_requests_total{${at},code=~"5.."}[10m])) > 0`,
            for: '10m',
            severity: 'warning' as const,
            summary: 'Webhook {{ $labels.webhook }} answers with errors',
            description: 'Writes of its objects fail while it does. The log of the operator has the errors.',
          },
        ]
      : []),
  ]
}
