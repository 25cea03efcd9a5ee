import type { ObjectName } from './names.ts'

/** A field that differs between two states of an object. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[name=web].image`. */
  readonly path: string
  /** JSON, shortened; absent if the field did not exist. */
  readonly before?: string | undefined
  readonly after?: string | undefined
}

/** One change of a recording. Its number names the moment right after it. */
export interface ChangeView {
  readonly number: number
  /** RFC 3339, by the clock of the console. */
  readonly time: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly kind: string
  readonly object: ObjectName
  /** The controllers of the object as `namespace/name`, or the object itself: the keys whose reconciles may have caused the change. */
  readonly keys: readonly string[]
  /** The field managers that wrote, as far as the object states them. */
  readonly managers: readonly string[]
  readonly fields: readonly FieldChange[]
  /** How many further fields changed. */
  readonly moreFields: number
}

/** The moments that a recording can show. */
export interface TimelineView {
  /** The number of the oldest moment. */
  readonly first: number
  readonly last: number
  /** RFC 3339: the time of the oldest moment. */
  readonly firstTime: string
  readonly lastTime: string
  /** Whether older changes were dropped because the recording is full. */
  readonly isCut: boolean
  /** The steps of the story in the recording; empty for recordings of the console. */
  readonly marks: readonly MarkView[]
}

/** A step of a story, such as an operation of the user or a fault. */
export interface MarkView {
  /** The number of the last change before it. */
  readonly moment: number
  /** RFC 3339. */
  readonly time: string
  /** Who acts: user, operator, cluster, fault or oracle. */
  readonly actor: string
  readonly text: string
  /** The line of the operator's source. */
  readonly source?: string | undefined
}
