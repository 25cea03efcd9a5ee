import type { LogRecord, LogValues } from '@kubewright/base'
import type { LineOptions } from './json-line.ts'
import { errorWithCause, jsonOf, loggable, stackFrames } from './log-value.ts'

const colors = { grey: 90, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, bold: 1 } as const

// Values that identify the object of a reconcile: shown together as the subject of the line.
const subjectKeys = new Set(['controller', 'controllerGroup', 'controllerKind', 'namespace', 'name', 'reconcileID'])

/**
 * A line for people: time, level, subject, message, values. The object of a reconcile is shown as `Kind
 * namespace/name`, the reconcileID as its first eight characters.
 */
export function prettyLine(record: LogRecord, { time, color, stackTraces }: LineOptions): string {
  const paint = (name: keyof typeof colors, text: string): string =>
    color ? `\u001B[${colors[name]}m${text}\u001B[0m` : text
  const failed = 'error' in record
  const [level, levelColor] = failed
    ? (['ERROR', 'red'] as const)
    : record.isWarning
      ? (['WARN ', 'yellow'] as const)
      : record.level === 0
        ? (['INFO ', 'green'] as const)
        : ([record.level === 1 ? 'DEBUG' : `V(${record.level}) `, 'blue'] as const)
  const { subject, values } = splitValues(record.values)
  const words = [paint('grey', time.slice(11, 23)), paint(levelColor, level)]
  const who = [record.name, subject].filter((text) => text !== '').join(' ')
  if (who !== '') words.push(paint('cyan', who))
  words.push(paint('bold', record.message))
  if (failed) words.push(paint('red', oneLine(errorWithCause(record.error))))
  for (const [key, value] of values) words.push(`${paint('grey', `${key}=`)}${wordOf(value)}`)
  const stack = failed && stackTraces ? stackFrames(record.error) : undefined
  const line = words.join(' ')
  return stack === undefined ? line : `${line}\n${paint('grey', stack.replaceAll(/^/gm, '    '))}`
}

function splitValues(all: LogValues): { subject: string; values: [string, unknown][] } {
  const { controller, controllerKind, namespace, name, reconcileID } = all
  const entries = Object.entries(all).filter(([, value]) => value !== undefined)
  if (typeof controller !== 'string' || typeof name !== 'string') return { subject: '', values: entries }
  const key = typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name
  const kind = typeof controllerKind === 'string' ? controllerKind : controller
  const values = entries.filter(([entry]) => !subjectKeys.has(entry) && entry !== controllerKind)
  // The name of the controller is shown only when it differs from the kind.
  const by = controller === kind.toLowerCase() ? '' : ` (${controller})`
  if (typeof reconcileID === 'string') values.push(['id', reconcileID.slice(0, 8)])
  return { subject: `${kind} ${key}${by}`, values }
}

function wordOf(value: unknown): string {
  const shown = loggable(value)
  if (typeof shown !== 'string') return jsonOf(shown)
  return /^[^\s"=]+$/.test(shown) ? shown : JSON.stringify(shown)
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')
