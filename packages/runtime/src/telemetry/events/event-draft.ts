import { formatMicroTime, instantFromMillis, isQualifiedName, type KubeObject, toTime } from '@kubewright/api'
import type { EventNote } from './event-recorder.ts'

/** The reference to an object in an Event. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly uid: string
  readonly resourceVersion?: string | undefined
}

/** An Event of events.k8s.io/v1 for a create request. */
export interface EventDraft {
  readonly apiVersion: 'events.k8s.io/v1'
  readonly kind: 'Event'
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly eventTime: string
  readonly reportingController: string
  readonly reportingInstance: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly regarding: ObjectReference
  readonly related?: ObjectReference | undefined
}

/** An Event of v1 for a create request: the older API, with a count of its own and times in seconds. */
export interface CoreEventDraft {
  readonly apiVersion: 'v1'
  readonly kind: 'Event'
  readonly metadata: EventDraft['metadata']
  readonly involvedObject: ObjectReference
  readonly related?: ObjectReference | undefined
  readonly reason: string
  readonly message: string
  readonly type: 'Normal' | 'Warning'
  readonly source: { readonly component: string }
  readonly reportingComponent: string
  readonly firstTimestamp: string
}

/** The fields of a v1 Event that change when it occurs again. */
export interface CoreEventCount {
  readonly count: number
  readonly lastTimestamp: string
}

/** The reporting component and its instance. */
export interface EventReporter {
  readonly controller: string
  readonly instance: string
}

// The limits of the API server, as in pkg/apis/core/validation/events.go.
const maxName = 253
const maxWord = 128
const maxNote = 1024

/** Creates an Event that an API server accepts for any texts: values that are too long are truncated. */
export function eventDraft(
  regarding: KubeObject,
  note: EventNote,
  reporter: EventReporter,
  micros: number,
  serial: bigint,
): EventDraft {
  const { type, message, related } = note
  const reason = cut(note.reason, maxWord) || 'Unknown'
  const { name, namespace = 'default' } = regarding.metadata
  const { controller } = note.component === undefined ? reporter : reporterOf(note.component, reporter.instance)
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(name, serial), namespace },
    eventTime: formatMicroTime(instantFromMillis(micros / 1000)),
    reportingController: controller,
    reportingInstance: reporter.instance,
    type,
    reason,
    action: cut(note.action ?? reason, maxWord) || reason,
    note: cut(message, maxNote),
    regarding: referenceTo(regarding),
    ...(related === undefined ? {} : { related: referenceTo(related) }),
  }
}

/** The name of an Event about an object: unique among the Events of one recorder. */
export function eventName(about: string, serial: bigint): string {
  const suffix = `.${serial.toString(16)}`
  return `${about.slice(0, maxName - suffix.length)}${suffix}`
}

/** Converts an Event to the v1 API. */
export function coreEvent(draft: EventDraft, firstMicros: number): CoreEventDraft {
  const { metadata, regarding, related, reason, note, type, reportingController } = draft
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata,
    involvedObject: regarding,
    ...(related === undefined ? {} : { related }),
    reason,
    message: note,
    type,
    source: { component: reportingController },
    reportingComponent: reportingController,
    firstTimestamp: toTime(firstMicros / 1000),
  }
}

/** The count and the last time of a v1 Event. */
export function coreCount(count: number, lastMicros: number): CoreEventCount {
  return { count, lastTimestamp: toTime(lastMicros / 1000) }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion, kind, name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) }
}

/**
 * Converts the reporter to the form that the server requires: a qualified name and an instance of at most 128
 * characters each.
 */
export function reporterOf(component: string, instance: string): EventReporter {
  const fitting = component.replaceAll(/[^A-Za-z0-9_./-]/g, '-').slice(0, maxWord)
  const valid = isQualifiedName(fitting).length === 0
  const controller = valid
    ? fitting
    : fitting
        .replaceAll('/', '-')
        .slice(0, 63)
        .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
  const name = controller === '' ? 'kubewright' : controller
  return { controller: name, instance: instance.slice(0, maxWord) || name }
}

/** Truncates a text to `maxBytes` bytes of UTF-8, at a character boundary. */
export function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > maxBytes) return text.slice(0, end)
    end += character.length
  }
  return text
}
