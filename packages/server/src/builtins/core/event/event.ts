import { deepEqual, isDNS1123Subdomain, isPathSegmentName, nameIsDNSSubdomain, parseMicroTime } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import { goShown } from '../../../codec/json/go-value.ts'
import { storageConversion } from '../../../resource/conversion.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { FieldSelectors } from '../../../resource/resource.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { addInvalid, checkQualifiedName } from '../../checks/field-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { eventTable } from './event-table.ts'

/** An Event of the core group, which is also the stored form. */
interface Event {
  involvedObject?: { namespace?: string | undefined; [field: string]: string | undefined } | undefined
  related?: object | undefined
  source?: { component?: string | undefined; host?: string | undefined } | undefined
  series?: { count?: number | undefined; lastObservedTime?: string | null | undefined } | undefined
  eventTime?: string | null | undefined
  firstTimestamp?: string | null | undefined
  lastTimestamp?: string | null | undefined
  count?: number | undefined
  type?: string | undefined
  reason?: string | undefined
  action?: string | undefined
  message?: string | undefined
  reportingComponent?: string | undefined
  reportingInstance?: string | undefined
}

/** Fields that have another name in events.k8s.io. */
const renamed: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
}
const renamedBack = Object.fromEntries(Object.entries(renamed).map(([core, events]) => [events, core]))

function rename(event: MutableObject, names: Readonly<Record<string, string>>, apiVersion: string): MutableObject {
  const result: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(event)) result[names[field] ?? field] = value
  return { ...(result as MutableObject), apiVersion }
}

/** Brings an event of events.k8s.io/v1 into the stored form, which the core group shows, and back. */
const versions: Parameters<typeof storageConversion>[0] = {
  toStorage: (event) => {
    const stored = rename(event, renamedBack, 'v1')
    // What the stored form never leaves out.
    for (const [field, empty] of Object.entries(neverAbsent)) stored[field] ??= empty
    return stored
  },
  fromStorage: (event) => {
    const { reportingComponent, reportingInstance, ...rest } = event
    return rename(
      {
        ...rest,
        ...(reportingComponent ? { reportingComponent } : {}),
        ...(reportingInstance ? { reportingInstance } : {}),
      } as MutableObject,
      renamed,
      'events.k8s.io/v1',
    )
  },
}

const neverAbsent = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
}

function validateLegacy(meta: MutableObject['metadata'], event: Event, controllerField: string): FieldError[] {
  const errors: FieldError[] = []
  const namespace = meta.namespace ?? ''
  const objectNamespace = event.involvedObject?.namespace ?? ''
  const mismatch = (): void => {
    const at = FieldPath.of('involvedObject', 'namespace')
    errors.push(invalid(at, objectNamespace, 'does not match event.namespace'))
  }
  if (!event.eventTime) {
    // Older clients create Events about cluster-scoped objects in the namespace "default".
    const fits = objectNamespace === '' ? ['', 'default'].includes(namespace) : namespace === objectNamespace
    if (!fits) mismatch()
  } else {
    if (objectNamespace === '' && namespace !== 'default' && namespace !== 'kube-system') mismatch()
    const controller = event.reportingComponent ?? ''
    if (controller === '') errors.push(required(FieldPath.of(controllerField)))
    checkQualifiedName(errors, FieldPath.of(controllerField), controller)
    for (const field of ['reportingInstance', 'action', 'reason'] as const) {
      if (!event[field]) errors.push(required(FieldPath.of(field)))
      checkLength(event[field], field, 128, errors)
    }
    checkLength(event.message, 'message', 1024, errors)
  }
  addInvalid(errors, FieldPath.of('namespace'), namespace, isDNS1123Subdomain(namespace))
  return errors
}

function checkLength(text: string | undefined, field: string, limit: number, errors: FieldError[]): void {
  if (Buffer.byteLength(text ?? '') <= limit) return
  errors.push(invalid(FieldPath.of(field), '', `can have at most ${limit} characters`))
}

function validateSeries({ series }: Event, errors: FieldError[]): void {
  if (!series) return
  if ((series.count ?? 0) < 2) errors.push(invalid(FieldPath.of('series.count'), '', 'should be at least 2'))
  if (!series.lastObservedTime) errors.push(required(FieldPath.of('series.lastObservedTime')))
}

/** Checks a new Event of events.k8s.io. Deprecated fields must not be set. */
function validateStrict(event: Event): FieldError[] {
  const errors: FieldError[] = []
  validateSeries(event, errors)
  if (!event.eventTime) errors.push(required(FieldPath.of('eventTime')))
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(invalid(FieldPath.of('type'), '', `has invalid value: ${event.type ?? ''}`))
  }
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source'] as const) {
    const value = event[field]
    const set = field === 'source' ? event.source?.component || event.source?.host : value
    if (set) errors.push(invalid(FieldPath.of(field), '', 'needs to be unset'))
  }
  return errors
}

/** Checks an update of an Event of events.k8s.io. Only the series may change. */
function validateStrictUpdate(event: Event, old: Event): FieldError[] {
  const errors: FieldError[] = []
  if (!deepEqual(event.series ?? null, old.series ?? null)) validateSeries(event, errors)
  const fixed = (field: keyof Event, name: string, zero: unknown, struct?: string): void => {
    const [now, then] = [event[field] ?? zero, old[field] ?? zero]
    if (deepEqual(now, then)) return
    const shown = struct && now ? goShown(struct, now as object) : now
    errors.push(invalid(FieldPath.of(name), shown, 'field is immutable'))
  }
  fixed('involvedObject', 'involvedObject', {}, 'ObjectReference')
  fixed('reason', 'reason', '')
  fixed('message', 'message', '')
  fixed('source', 'source', {}, 'EventSource')
  fixed('firstTimestamp', 'firstTimestamp', null)
  fixed('lastTimestamp', 'lastTimestamp', null)
  fixed('count', 'count', 0)
  fixed('reason', 'reason', '')
  fixed('type', 'type', '')
  if (!sameInstant(event.eventTime, old.eventTime)) fixed('eventTime', 'eventTime', null)
  fixed('action', 'action', '')
  fixed('related', 'related', null, 'ObjectReference')
  fixed('reportingComponent', 'reportingController', '')
  fixed('reportingInstance', 'reportingInstance', '')
  return errors
}

function sameInstant(a: string | null | undefined, b: string | null | undefined): boolean {
  if (!a || !b) return !a === !b
  const [left, right] = [parseMicroTime(a), parseMicroTime(b)]
  return left.seconds === right.seconds && Math.trunc(left.nanos / 1000) === Math.trunc(right.nanos / 1000)
}

/** Converts an Event of either group to the stored form. */
function stored(event: MutableObject): Event {
  return (event.apiVersion === 'v1' ? event : versions.toStorage(event)) as Event
}

// Updates do not check metadata: older clients used names that are invalid today.
const coreStrategy: Strategy = {
  validateName: isPathSegmentName,
  anyFinalizer: true,
  defaultPropagation: 'Unsupported',
  allowCreateOnUpdate: true,
  metadataOnUpdate: [],
  validate: (event) => validateLegacy(event.metadata, stored(event), 'reportingComponent'),
  validateUpdate: (event) => validateLegacy(event.metadata, stored(event), 'reportingComponent'),
}

const eventsStrategy: Strategy = {
  validateName: nameIsDNSSubdomain,
  defaultPropagation: 'Unsupported',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['update'],
  validate: (event) => [
    ...validateLegacy(event.metadata, stored(event), 'reportingController'),
    ...validateStrict(stored(event)),
  ],
  validateUpdate: (event, old) => [
    ...validateLegacy(event.metadata, stored(event), 'reportingController'),
    ...validateStrictUpdate(stored(event), stored(old)),
  ],
}

type Select = FieldSelectors['fields']

/** The selectable fields of an Event, under the names of one group. */
function selectable(objectField: string, controllerField: string): Select {
  const fields: Record<string, (event: MutableObject) => string> = {
    reason: (event) => stored(event).reason ?? '',
    [controllerField]: (event) => stored(event).reportingComponent ?? '',
    type: (event) => stored(event).type ?? '',
  }
  for (const part of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']) {
    fields[`${objectField}.${part}`] = (event) => stored(event).involvedObject?.[part] ?? ''
  }
  return fields
}

const unknownField = (label: string): string => `field label not supported: ${label}`

/** Events of the core group (pkg/registry/core/event). */
export const coreEvents: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'events',
  table: eventTable,
  strategy: coreStrategy,
  uncached: true,
  selectableFields: {
    ...selectable('involvedObject', 'reportingComponent'),
    source: (event) => stored(event).source?.component || (stored(event).reportingComponent ?? ''),
  },
  unknownField,
})

/** The same Events in the group events.k8s.io. */
export const groupEvents: BuiltinDefinition = defineBuiltin({
  group: 'events.k8s.io',
  resource: 'events',
  table: eventTable,
  strategy: eventsStrategy,
  uncached: true,
  storagePath: 'events/',
  errorGroup: '',
  conversion: { storage: storageConversion(versions) },
  selectableFields: selectable('regarding', 'reportingController'),
  unknownField,
})
