import { formatMicroTime, instantFromMillis, isQualifiedName, type KubeObject, toTime } from '@kubewright/api'
import type { EventNote } from './event-recorder.ts'

/** A reference to an object in an Event. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion?: string
}

/** An Event of events.k8s.io/v1 as it is created. */
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
  readonly related?: ObjectReference
}

/** An Event of v1 as it is created: the older form, which counts in itself and knows seconds. */
export interface CoreEventDraft {
  readonly apiVersion: 'v1'
  readonly kind: 'Event'
  readonly metadata: EventDraft['metadata']
  readonly involvedObject: ObjectReference
  readonly related?: ObjectReference
  readonly reason: string
  readonly message: string
  readonly type: 'Normal' | 'Warning'
  readonly source: { readonly component: string }
  readonly reportingComponent: string
  readonly firstTimestamp: string
}

/** What changes in an Event of v1 when it occurs again. */
export interface CoreEventCount {
  readonly count: number
  readonly lastTimestamp: string
}

/** Who reports Events. */
export interface EventReporter {
  readonly controller: string
  readonly instance: string
}

// The limits of the API server (pkg/apis/core/validation/events.go).
const maxName = 253
const maxWord = 128
const maxNote = 1024

/** Makes an Event that an API server accepts, whatever the texts are: what is too long is cut. */
export function eventDraft(
  regarding: KubeObject,
  note: EventNote,
  reporter: EventReporter,
  micros: number,
  serial: bigint,
): EventDraft {
  const { type, message, related } = note
  const reason = cut(note.reason, maxWord) || 'Unknown'
  const suffix = `.${serial.toString(16)}`
  const { name, namespace = 'default' } = regarding.metadata
  const { controller } = note.component === undefined ? reporter : reporterOf(note.component, reporter.instance)
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, maxName - suffix.length)}${suffix}`, namespace },
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

/** The same Event in the older form. */
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

/** How often an Event of v1 has occurred, and when last. */
export function coreCount(count: number, lastMicros: number): CoreEventCount {
  return { count, lastTimestamp: toTime(lastMicros / 1000) }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion, kind, name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) }
}

/** Who reports, in the form that the server demands: a qualified name and an instance, neither longer than 128 characters. */
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

/** The text, cut to so many bytes of UTF-8 at the boundary of a character. */
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
