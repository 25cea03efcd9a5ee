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

/** Alerts for an operator, as a PrometheusRule of the Prometheus operator. */
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
      description: 'No object is reconciled while no replica runs. Check the Deployment and its pods.',
    },
    {
      alert: 'ReconcileErrors',
      expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${at}}[10m])) > 0.1 * sum by (controller) (rate(controller_runtime_reconcile_total{${at}}[10m]))`,
      for: '15m',
      severity: 'warning',
      summary: 'More than 10 % of the reconciles of {{ $labels.controller }} fail',
      description: 'The log of the operator lists the objects and the errors.',
    },
    {
      alert: 'ReconcileGivenUp',
      expr: `sum by (controller) (increase(controller_runtime_terminal_reconcile_errors_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} stopped retrying objects after terminal errors',
      description: 'The log of the operator lists the objects and the errors.',
    },
    {
      alert: 'ReconcilePanics',
      expr: `sum by (controller) (increase(controller_runtime_reconcile_panics_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} fails because of a bug in its code',
      description: 'The log of the operator contains the stack trace.',
    },
    {
      alert: 'ReconcileHotLoop',
      expr: `sum by (controller) (increase(kubewright_hot_loops_total{${at}}[1h])) > 0`,
      for: '1m',
      severity: 'warning',
      summary: 'Controller {{ $labels.controller }} reconciles objects in a loop',
      description: 'Each reconcile causes the next one. The log of the operator lists the objects and the fields.',
    },
    {
      alert: 'ReconcileHangs',
      expr: `max by (name) (workqueue_longest_running_processor_seconds{${at}}) > 300`,
      for: '5m',
      severity: 'warning',
      summary: 'A reconcile of {{ $labels.name }} has been running for more than five minutes',
      description: 'Set a deadline for the calls of the reconcile, or a timeout for the controller.',
    },
    {
      alert: 'WorkPilesUp',
      expr: `sum by (name) (workqueue_depth{${at}}) > 100 and sum by (name) (deriv(workqueue_depth{${at}}[30m])) > 0`,
      for: '30m',
      severity: 'warning',
      summary: 'The work queue {{ $labels.name }} grows',
      description: 'Objects change faster than they are reconciled: raise the concurrency, or make reconciles faster.',
    },
    {
      alert: 'WatchesFail',
      expr: `sum by (group, resource) (increase(kubewright_informer_failures_total{${at}}[15m])) > 5`,
      for: '15m',
      severity: 'warning',
      summary: 'Lists and watches of {{ $labels.resource }} fail',
      description: 'The cache of the operator is outdated. /readyz reports missing permissions and missing CRDs.',
    },
    {
      alert: 'EventLoopBlocked',
      expr: `max by (pod) (nodejs_eventloop_lag_seconds{${at}}) > 1`,
      for: '10m',
      severity: 'warning',
      summary: 'The event loop of {{ $labels.pod }} is blocked for more than a second',
      description: 'Long computations delay all other work, including probes and renewals of Leases.',
    },
    ...(operator.leaderElection
      ? [
          {
            alert: 'NoLeader',
            expr: `sum(leader_election_master_status{${at}}) == 0`,
            for: '5m',
            severity: 'critical' as const,
            summary: `No replica of ${operator.name} is the leader`,
            description: 'No object is reconciled. Check the Lease and the permissions of the operator.',
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
            summary: 'Webhook {{ $labels.webhook }} responds with errors',
            description: 'Writes of its objects fail. The log of the operator contains the errors.',
          },
        ]
      : []),
  ]
}
