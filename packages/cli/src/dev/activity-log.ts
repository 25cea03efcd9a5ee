import type { Clock } from '@kubewright/base'
import type { ReconcileRecord } from '@kubewright/runtime'
import { errorLines } from '../entry/error-lines.ts'
import type { Color } from '../terminal/colors.ts'
import { fitted, type Terminal } from '../terminal/terminal.ts'
import { reasonOf, resultOf, subjectOf } from './reconcile-text.ts'

/** The output of an {@link ActivityLog}. */
export interface ActivityLogOptions {
  readonly write: (line: string) => void
  readonly clock: Clock
  /** @default no colours and no wrapping */
  readonly terminal?: Pick<Terminal, 'paint' | 'columns'> | undefined
  /** Paths are shown relative to this folder. */
  readonly project: string
}

/** A request that a webhook denied or warned about. */
export interface LoggedReview {
  readonly result: 'denied' | 'warned'
  readonly operation: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly message: string
}

// The text of a line begins after the time.
const margin = 9

// Log messages that this log replaces by lines of its own, or that report nothing unusual.
const replaced = new Set([
  'Reconcile done',
  'Reconciler error',
  'Registered webhooks under a local address',
  'Serving webhook server',
  'Stopping',
  'Using cluster',
])
// A repeated failure is logged again only if the next attempt is at least this far away.
const longMillis = 1000
const ownValues = new Set(['level', 'ts', 'logger', 'msg', 'error', 'stacktrace', 'reconcileID', 'namespace', 'name'])

/** Prints the activity of an operator line by line: `12:01:03 home/cosy  reconciled in 12 ms  because …`. */
export class ActivityLog {
  readonly #options: ActivityLogOptions
  // The last failure of each object, to print the stack of a repeated error once.
  readonly #failures = new Map<string, { readonly text: string; times: number }>()

  constructor(options: ActivityLogOptions) {
    this.#options = options
  }

  /** Prints a line with the current time. */
  write(subject: string, text: string, color: Color = 'green'): void {
    this.#line(this.#options.clock.now(), subject, text, color)
  }

  /** Prints an error with its causes and its place in the source. */
  problem(subject: string, text: string, error: unknown): void {
    this.write(subject, text, 'red')
    this.#indented(errorLines(error, this.#options.project))
  }

  /** Prints a finished reconcile. `kind` is that of its controller, such as `apps/v1 Deployment`. */
  reconciled(record: ReconcileRecord, kind?: string): void {
    const subject = subjectOf(record.controller, record.key)
    const at = record.startedAt + record.durationMillis
    const failed = record.result === 'error' || record.result === 'terminal_error'
    const reason = reasonOf(record, kind)
    const text = `${resultOf(record)}${reason === '' ? '' : `  ${this.#paint('grey', reason)}`}`
    if (!failed) {
      this.#failures.delete(subject)
      this.#line(at, subject, text, record.result === 'conflict' ? 'yellow' : 'green')
      return
    }
    const lines = errorLines(record.error, this.#options.project)
    const before = this.#failures.get(subject)
    const now = { text: lines.join('\n'), times: before?.text === lines.join('\n') ? before.times + 1 : 1 }
    this.#failures.set(subject, now)
    if (now.times === 1) {
      this.#line(at, subject, text, 'red')
      this.#indented(lines)
    } else if ((record.requeueAfterMillis ?? longMillis) >= longMillis) {
      this.#line(at, subject, `${resultOf(record)}: the same error for the ${ordinal(now.times)} time`, 'red')
    }
  }

  /** Prints that a webhook denied a request or returned a warning. */
  reviewed({ result, operation, kind, namespace, name, user, message }: LoggedReview): void {
    const key = namespace === '' ? name : `${namespace}/${name}`
    const outcome = result === 'denied' ? 'denied by webhook' : 'got a warning from webhook'
    const text = `${operation.toLowerCase()} by ${user} ${outcome}: ${message}`
    this.write(subjectOf(kind.toLowerCase(), key), text, 'yellow')
  }

  /** Prints a log line of the operator in JSON. Other text is passed through. */
  record(line: string): void {
    let record: Readonly<Record<string, unknown>>
    try {
      record = JSON.parse(line) as Readonly<Record<string, unknown>>
    } catch {
      this.#options.write(line)
      return
    }
    const { level, msg, logger, controller, name, namespace, error, stacktrace } = record
    if (replaced.has(String(msg))) return
    const isAboutObject = typeof controller === 'string' && typeof name === 'string'
    const key = typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : String(name)
    const subject = isAboutObject ? subjectOf(controller, key) : String(logger ?? 'operator')
    const values = Object.entries(record).filter(([key]) => !ownValues.has(key) && !(isAboutObject && isInSubject(key)))
    const text = [String(msg), ...values.map(([key, value]) => `${this.#paint('grey', `${key}=`)}${word(value)}`)]
    const failed = error !== undefined
    this.write(subject, text.join(' '), failed ? 'red' : level === 'info' ? 'green' : 'grey')
    if (failed) this.#indented([String(error), ...(typeof stacktrace === 'string' ? stacktrace.split('\n') : [])])
  }

  #indented(lines: readonly string[]): void {
    for (const line of lines) this.#write(`${' '.repeat(margin)}${this.#paint('red', line)}`, margin + 2)
  }

  #line(at: number, subject: string, text: string, color: Color): void {
    const time = this.#paint('grey', timeOf(at))
    this.#write(
      `${time} ${this.#paint('cyan', subject)}  ${color === 'green' ? text : this.#paint(color, text)}`,
      margin,
    )
  }

  #write(line: string, hanging: number): void {
    const { write, terminal } = this.#options
    write(terminal === undefined ? line : fitted(line, terminal, hanging))
  }

  #paint(color: Color, text: string): string {
    return this.#options.terminal?.paint(color, text) ?? text
  }
}

/** The local time of day. */
function timeOf(millis: number): string {
  const date = new Date(millis)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** Whether a value repeats the subject of the line: the controller, or the object under the name of its kind. */
function isInSubject(key: string): boolean {
  return key.startsWith('controller') || /^[A-Z]/.test(key)
}

function word(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}

function ordinal(number: number): string {
  const last = number % 10
  const isTeen = number % 100 >= 11 && number % 100 <= 13
  const ending = isTeen ? 'th' : last === 1 ? 'st' : last === 2 ? 'nd' : last === 3 ? 'rd' : 'th'
  return `${number}${ending}`
}
