import type { Tracer } from '../tracing/tracer.ts'
import type { KeyReconciler } from './key-controller.ts'
import type { ReconcileRun, RunHost } from './reconcile-run.ts'

/** Calls a reconciler within a span that says what it is about, how long the key waited in the queue, and why it was there. */
export function traced(
  tracer: Tracer,
  host: RunHost,
  run: ReconcileRun,
  reconcile: KeyReconciler,
): ReturnType<KeyReconciler> {
  const causes = run.causes.map(({ event, kind = '', object = '' }) => [event, kind, object].filter(Boolean).join(' '))
  const attributes = {
    'controller.name': host.controller,
    ...(host.kind === undefined ? {} : { 'controller.kind': host.kind.kind, 'controller.group': host.kind.group }),
    'reconcile.id': run.reconcileID,
    'reconcile.key': run.key,
    'reconcile.causes': causes.join(', '),
    'queue.priority': run.taken.priority,
    'queue.wait_millis': run.taken.waited,
  }
  return tracer.span('reconcile', attributes, (span) => {
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
