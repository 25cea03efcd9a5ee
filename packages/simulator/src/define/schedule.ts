import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { KubewrightError } from '@kubewright/base'
import type { Fault } from './define-fault.ts'

/** Milliseconds between two operations that let a roll-out finish. */
export const calm = 60_000

/**
 * What a user does in a schedule. `subject` and `variant` are indexes into the lists of the simulation. The operation
 * `neighbor` creates an object of another owner that resembles a child; then `subject` selects the child. `invalid` tries
 * to change an object to a form that the server refuses to create; then `variant` selects the form. `input` changes,
 * deletes or restores an object that the author gave beside the samples. `restart` replaces the processes of the operator.
 */
export interface Operation {
  readonly do: 'create' | 'change' | 'delete' | 'neighbor' | 'invalid' | 'input' | 'restart'
  readonly subject: number
  /** The form of the object; 0 is the sample itself. */
  readonly variant: number
  /** Milliseconds of virtual time since the previous operation. */
  readonly after: number
  /** Waits until the operator has begun this number of further actions, but at most for the time `after`. */
  readonly actions?: number | undefined
}

/** One run of the simulation. The same schedule always gives the same history. */
export interface Schedule {
  /** The seed of latencies, identities and jitter. */
  readonly seed: number
  readonly operations: readonly Operation[]
  readonly faults: readonly Fault[]
  /** The number of replicas of the operator. More than one requires leader election. */
  readonly replicas: number
}

/** The same operations without faults, each of which waits until the one before has had its effect. */
export const calmly = (schedule: Schedule): Schedule => ({
  ...schedule,
  operations: schedule.operations.map(({ actions: _, ...one }) => ({ ...one, after: Math.max(one.after, calm) })),
  faults: [],
  replicas: 1,
})

/** Whether a schedule only creates objects, as the samples have them. */
export const isPlainCreation = ({ operations, faults }: Schedule): boolean =>
  faults.length === 0 && operations.every(({ do: verb, variant }) => verb === 'create' && variant === 0)

/** Encodes a schedule as a short text, for the option `replay`. */
export function scheduleId(schedule: Schedule): string {
  return deflateRawSync(JSON.stringify(schedule)).toString('base64url')
}

/** Decodes the text of {@link scheduleId}. */
export function parseScheduleId(id: string): Schedule {
  try {
    const schedule = JSON.parse(inflateRawSync(Buffer.from(id, 'base64url')).toString()) as Schedule
    if (!Array.isArray(schedule.operations) || !Array.isArray(schedule.faults)) throw new TypeError('not a schedule')
    return schedule
  } catch (cause) {
    throw new KubewrightError(
      'KW_SIMULATION_REPLAY',
      `Cannot replay ${JSON.stringify(id)}: it is not the ID of a schedule; copy the ID that the failed simulation printed`,
      { cause },
    )
  }
}
