import type { AuditPolicy, AuditSink } from '@kubewright/server'

/** The audit log of a control plane: where events go, and what they record. */
export type AuditConfig = {
  /** @default the metadata of every request, when it is complete */
  readonly policy?: AuditPolicy | undefined
} & ({ readonly sink: AuditSink } | { readonly file: string; readonly rotation: RotationLimits })

/** When the file of an audit log is replaced, and when old files are removed. */
export interface RotationLimits {
  /** The size in bytes at which a new file begins. */
  readonly maxBytes: number
  /** The number of old files to keep; 0 keeps all. */
  readonly maxBackups: number
  /** The age in days after which old files are removed; 0 keeps all. */
  readonly maxAgeDays: number
}
