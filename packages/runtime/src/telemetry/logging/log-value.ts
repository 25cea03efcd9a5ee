/** Converts a value for a log line. Never throws. */
export function loggable(value: unknown): unknown {
  if (value instanceof Error) return errorWithCause(value)
  switch (typeof value) {
    case 'bigint':
    case 'symbol':
      return String(value)
    case 'function':
      return `[Function ${value.name}]`
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    default:
      return value
  }
}

/** Serializes a value to JSON. Values that JSON cannot represent are replaced by a description. Never throws. */
export function jsonOf(value: unknown): string {
  // Fast path for the most common values.
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  const open: unknown[] = []
  const replace = function (this: unknown, _key: string, inner: unknown): unknown {
    // `open` is the path from the top to the object that holds this value. A value that is on the path already is a
    // cycle.
    while (open.length > 0 && open.at(-1) !== this) open.pop()
    if (typeof inner === 'object' && inner !== null && !(inner instanceof Error)) {
      if (open.includes(inner)) return '[circular]'
      open.push(inner)
      return inner instanceof Map || inner instanceof Set ? [...inner] : inner
    }
    return loggable(inner)
  }
  try {
    return JSON.stringify(value, replace) ?? 'null'
  } catch (error) {
    return JSON.stringify(`[${error instanceof Error ? error.message : 'unknown value'}]`)
  }
}

/**
 * The text of an error in a log line: its message, or its name if the message is empty, then the message of its cause
 * unless contained.
 */
export function errorWithCause(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : jsonOf(error)
  const { message, cause, name } = error
  const text = message === '' ? name : message
  if (cause === undefined || cause === null) return text
  const inner = cause instanceof Error ? cause.message : String(cause)
  return inner === '' || text.includes(inner) ? text : `${text}: ${inner}`
}

/** The frames of an error's stack, one per line, without the message. */
export function stackFrames(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.length === 0 ? undefined : frames.map((line) => line.trim()).join('\n')
}
