import { isJsonObject, textOf } from '@kubewright/base'
import type { DebugReport } from '@kubewright/runtime'
import { type Json, listAt, objectAt } from '../cluster/json.ts'
import type {
  CallView,
  CauseView,
  ControllerView,
  LineView,
  OperatorView,
  QueuedKeyView,
  ReconcileView,
  RequestView,
} from '../wire/operator-view.ts'

// The maximum number of keys per state that the page shows.
const maxKeys = 50

/** Describes an operator for the page. Reads the report as JSON, because it may come from another version. */
export function viewOperator(index: number, name: string, report: DebugReport): OperatorView {
  const definitions = listAt(report.operator, 'controllers')
  const queues = listAt(report, 'queues')
  const missing = (report.access as { readonly missing?: unknown }).missing
  return {
    index,
    name: textOf(isJsonObject(report.operator) ? report.operator['name'] : undefined) || name,
    controllers: listAt(report, 'controllers').map((controller, index) => {
      const definition = definitions.find((one) => one['name'] === controller['name'])
      return viewController(controller, definition, queues[index] ?? {})
    }),
    caches: listAt(report, 'caches').flatMap(({ kind, objects }) =>
      typeof kind === 'string' ? [{ kind, objects: typeof objects === 'number' ? objects : null }] : [],
    ),
    reconciles: listAt(report, 'reconciles').map(viewReconcile),
    calls: listAt(report, 'calls').map(viewCall),
    missingAccess: Array.isArray(missing) ? missing.map((one) => JSON.stringify(one)) : [],
  }
}

function viewController(controller: Json, definition: Json | undefined, queue: Json): ControllerView {
  const states = ['processing', 'ready', 'waiting'] as const
  const count = (state: string): number => Number(objectAt(queue, state)['count'] ?? 0)
  const problems = controller['problems']
  return {
    name: textOf(controller['name']),
    kind: textOf(definition?.['kind']),
    ready: count('ready'),
    waiting: count('waiting'),
    processing: count('processing'),
    keys: states.flatMap((state) =>
      listAt(objectAt(queue, state), 'keys')
        .slice(0, maxKeys)
        .map(
          (key): QueuedKeyView => ({
            key: keyText(key['key']),
            state,
            time: Number(key['time'] ?? 0),
            causes: listAt(key, 'causes').map(viewCause),
          }),
        ),
    ),
    isPaused: controller['isPaused'] === true,
    problems: Array.isArray(problems) ? problems.map(String) : [],
  }
}

function viewReconcile(record: Json): ReconcileView {
  const requeue = record['requeueAfterMillis']
  return {
    controller: textOf(record['controller']),
    key: keyText(record['key']),
    id: textOf(record['reconcileID']),
    startedAt: textOf(record['startedAt']),
    durationMillis: Number(record['durationMillis'] ?? 0),
    result: textOf(record['result']),
    causes: listAt(record, 'causes').map(viewCause),
    error: textOf(record['error']) || undefined,
    stack: textOf(record['stack']) || undefined,
    requeueAfterMillis: typeof requeue === 'number' ? requeue : undefined,
    requests: record['requests'] === undefined ? undefined : listAt(record, 'requests').map(viewRequest),
    log: record['log'] === undefined ? undefined : listAt(record, 'log').map(viewLine),
  }
}

function viewLine({ time, level, message, values, error }: Json): LineView {
  const details = isJsonObject(values) && Object.keys(values).length > 0 ? JSON.stringify(values) : ''
  return {
    time: textOf(time),
    level: textOf(level),
    message: textOf(message),
    values: details,
    error: textOf(error) || undefined,
  }
}

function viewRequest(request: Json): RequestView {
  return { method: textOf(request['method']), path: textOf(request['path']), ...viewTiming(request) }
}

function viewCall(call: Json): CallView {
  const { path, allowed, message } = call
  return {
    path: textOf(path),
    allowed: typeof allowed === 'boolean' ? allowed : undefined,
    message: textOf(message) || undefined,
    ...viewTiming(call),
  }
}

function viewTiming({
  startedAt,
  durationMillis,
  error,
}: Json): Pick<RequestView, 'startedAt' | 'durationMillis' | 'error'> {
  return {
    startedAt: textOf(startedAt),
    durationMillis: Number(durationMillis ?? 0),
    error: textOf(error) || undefined,
  }
}

function viewCause(cause: Json): CauseView {
  const { event, kind, object, paths, by, count } = cause
  return {
    event: textOf(event),
    kind: textOf(kind) || undefined,
    object: textOf(object) || undefined,
    paths: Array.isArray(paths) ? paths.map(String) : undefined,
    by: Array.isArray(by) ? by.map(String) : undefined,
    count: typeof count === 'number' ? count : 1,
  }
}

const keyText = (key: unknown): string => (typeof key === 'string' ? key : JSON.stringify(key))
