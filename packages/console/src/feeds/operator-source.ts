import type { DebugReport } from '@kubewright/runtime'

/** An operator that the console can show. */
export interface OperatorSource {
  /** Shown until there is a report. */
  readonly name: string
  /** The current state of the operator. A rejection is shown with its message. */
  report(signal: AbortSignal): Promise<DebugReport>
}
