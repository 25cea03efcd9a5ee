import { textOf } from '@kubewright/base'
import { type Json, listAt } from '../cluster/json.ts'
import type { Column } from '../wire/messages.ts'
import type { KindInfo, ResourceName } from '../wire/names.ts'
import type {
  CacheView,
  CallView,
  CauseView,
  ControllerView,
  LineView,
  OperatorView,
  QueuedKeyView,
  ReconcileView,
  RequestView,
} from '../wire/operator-view.ts'
import type { Mark } from './recording.ts'

// A file may come from anywhere. These functions return what the page expects, whatever the file contains: fields of
// another type become empty.

// The range of the Date type.
const maxTime = 8.64e15

const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** Milliseconds since the epoch that a Date can have; undefined for other values. */
export function readTime(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= maxTime ? value : undefined
}

/** Undefined for values that do not name a resource. */
export function readResource(value: unknown): ResourceName | undefined {
  const { group, version, plural } = (value ?? {}) as Json
  if (typeof group !== 'string' || typeof version !== 'string' || typeof plural !== 'string') return undefined
  return { group, version, plural }
}

export function readKinds(header: Json): KindInfo[] {
  return listAt(header, 'kinds').flatMap((kind) => {
    const resource = readResource(kind)
    if (resource === undefined) return []
    return {
      ...resource,
      kind: textOf(kind['kind']),
      namespaced: kind['namespaced'] === true,
      shortNames: textsOf(kind['shortNames']),
      verbs: textsOf(kind['verbs']),
      subresources: textsOf(kind['subresources']),
      custom: kind['custom'] === true,
    }
  })
}

export function readColumns(value: Json): Column[] {
  return listAt(value, 'columns').map((column) => ({
    name: textOf(column['name']),
    type: textOf(column['type']),
    description: textOf(column['description']),
    priority: numberOf(column['priority']),
  }))
}

export function readMarks(header: Json): Mark[] {
  return listAt(header, 'marks').flatMap((mark) => {
    const time = readTime(mark['time'])
    if (time === undefined) return []
    return { time, actor: textOf(mark['actor']), text: textOf(mark['text']), source: optionalText(mark['source']) }
  })
}

export function readOperators(header: Json): OperatorView[] {
  return listAt(header, 'operators').map((operator, index) => ({
    index,
    name: textOf(operator['name']),
    problem: optionalText(operator['problem']),
    controllers: listAt(operator, 'controllers').map(readController),
    caches: listAt(operator, 'caches').map(readCache),
    reconciles: listAt(operator, 'reconciles').map(readReconcile),
    calls: listAt(operator, 'calls').map(readCall),
    missingAccess: textsOf(operator['missingAccess']),
  }))
}

function readController(controller: Json): ControllerView {
  return {
    name: textOf(controller['name']),
    kind: textOf(controller['kind']),
    ready: numberOf(controller['ready']),
    waiting: numberOf(controller['waiting']),
    processing: numberOf(controller['processing']),
    keys: listAt(controller, 'keys').map(readKey),
    isPaused: controller['isPaused'] === true,
    problems: textsOf(controller['problems']),
  }
}

function readKey(key: Json): QueuedKeyView {
  const state = key['state']
  return {
    key: textOf(key['key']),
    state: state === 'waiting' || state === 'processing' ? state : 'ready',
    time: numberOf(key['time']),
    causes: listAt(key, 'causes').map(readCause),
  }
}

function readCache({ kind, objects }: Json): CacheView {
  return { kind: textOf(kind), objects: typeof objects === 'number' ? objects : null }
}

function readCause({ event, kind, object, paths, by, count }: Json): CauseView {
  return {
    event: textOf(event),
    kind: optionalText(kind),
    object: optionalText(object),
    paths: paths === undefined ? undefined : textsOf(paths),
    by: by === undefined ? undefined : textsOf(by),
    count: numberOf(count),
  }
}

function readReconcile(reconcile: Json): ReconcileView {
  const { requeueAfterMillis, requests, log } = reconcile
  return {
    controller: textOf(reconcile['controller']),
    key: textOf(reconcile['key']),
    id: textOf(reconcile['id']),
    startedAt: textOf(reconcile['startedAt']),
    durationMillis: numberOf(reconcile['durationMillis']),
    result: textOf(reconcile['result']),
    causes: listAt(reconcile, 'causes').map(readCause),
    error: optionalText(reconcile['error']),
    stack: optionalText(reconcile['stack']),
    requeueAfterMillis: requeueAfterMillis === undefined ? undefined : numberOf(requeueAfterMillis),
    requests: requests === undefined ? undefined : listAt(reconcile, 'requests').map(readRequest),
    log: log === undefined ? undefined : listAt(reconcile, 'log').map(readLine),
  }
}

function readRequest({ method, path, startedAt, durationMillis, error }: Json): RequestView {
  return {
    method: textOf(method),
    path: textOf(path),
    startedAt: textOf(startedAt),
    durationMillis: numberOf(durationMillis),
    error: optionalText(error),
  }
}

function readLine({ time, level, message, values, error }: Json): LineView {
  return {
    time: textOf(time),
    level: textOf(level),
    message: textOf(message),
    values: textOf(values),
    error: optionalText(error),
  }
}

function readCall({ path, startedAt, durationMillis, allowed, message, error }: Json): CallView {
  return {
    path: textOf(path),
    startedAt: textOf(startedAt),
    durationMillis: numberOf(durationMillis),
    allowed: typeof allowed === 'boolean' ? allowed : undefined,
    message: optionalText(message),
    error: optionalText(error),
  }
}
