import type { Clock, Logger, Random } from '@kubewright/base'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

/** The parts of the server that aggregation uses. */
export interface AggregationParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server is disposed; ends all checks. */
  readonly signal: AbortSignal
}
