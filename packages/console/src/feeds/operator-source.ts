import type { ControllerCommand, DebugReport } from '@kubewright/runtime'

/** An operator that the console can show. */
export interface OperatorSource {
  /** Shown until there is a report. */
  readonly name: string
  /** The current state of the operator. A rejection is shown with its message. */
  report(signal: AbortSignal): Promise<DebugReport>
  /** Pauses, steps or resumes a controller. @default the operator offers no control */
  control?(controller: string, command: ControllerCommand): Promise<void>
}
