import type { AsyncDisposer, Clock, Logger } from '@kubewright/base'
import type { AssembleServerOptions, AuditSink } from '@kubewright/server'
import type { CompletedConfig } from '../config/completed-config.ts'
import { RotatingFile } from './rotating-file.ts'

/** Time between two reports of lost lines: a full disk must not fill another one with messages. */
const reportMillis = 60_000

/** Opens the audit log of a control plane. Its file is closed with the disposer. */
export function openAuditLog(
  { audit, clock, log }: CompletedConfig,
  disposer: AsyncDisposer,
): AssembleServerOptions['audit'] {
  if (audit === undefined || 'sink' in audit) return audit
  const file = disposer.use(new RotatingFile(audit.file, audit.rotation, clock))
  return { policy: audit.policy, sink: auditSink(file, clock, log) }
}

/**
 * Returns a function that writes lines of the audit log and never throws: as with kube-apiserver, a log that cannot be written does not prevent
 * requests, which have been carried out when their line is written. Lost lines are counted and reported.
 */
export function auditSink(file: { write(line: string): void }, clock: Pick<Clock, 'now'>, log: Logger): AuditSink {
  let lost = 0
  let nextReport = Number.NEGATIVE_INFINITY
  return (line) => {
    try {
      file.write(line)
    } catch (error) {
      lost++
      if (clock.now() < nextReport) return
      nextReport = clock.now() + reportMillis
      log.error(error, 'Cannot write the audit log: the requests are served, their events are lost', { lost })
    }
  }
}
