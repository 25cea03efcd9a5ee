import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { KeyReconciler } from './key-controller.ts'
import type { ReconcileHost, ReconcileRun } from './reconcile-run.ts'

/**
 * Calls a reconciler within spans: `event`, which starts when the key became ready, with the children `queue` for the
 * waiting time and `reconcile`.
 */
export function traced(
  tracer: Tracer,
  host: ReconcileHost,
  run: ReconcileRun,
  reconcile: KeyReconciler,
): ReturnType<KeyReconciler> {
  const causes = run.causes.map(({ event, kind = '', object = '' }) => [event, kind, object].filter(Boolean).join(' '))
  const { waited, priority } = run.taken
  const attributes = {
    'controller.name': host.controller,
    ...(host.kind === undefined ? {} : { 'controller.kind': host.kind.kind, 'controller.group': host.kind.group }),
    'reconcile.id': run.reconcileID,
    'reconcile.key': run.key,
    'reconcile.causes': causes.join(', '),
  }
  const waiting = { 'queue.priority': priority, 'queue.wait_millis': waited }
  const past = { startedMillisAgo: waited }
  const work = (): ReturnType<KeyReconciler> => {
    tracer.span('queue', { 'controller.name': host.controller, ...waiting }, () => undefined, past)
    return tracer.span('reconcile', { ...attributes, ...waiting }, (span) => {
      try {
        const outcome = reconcile(run.key, run)
        if (outcome instanceof Promise) outcome.catch((error: unknown) => span.fail(error))
        return outcome
      } catch (error) {
        span.fail(error)
        throw error
      }
    })
  }
  return tracer.span('event', attributes, work, past)
}
