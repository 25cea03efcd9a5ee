import { parseDuration } from '@kubewright/base'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const every = '@every '

/** Says why a schedule of a CronJob is none, in the words of the library that Kubernetes uses; undefined for a good one. */
export function cronScheduleProblem(schedule: string): string | undefined {
  let spec = schedule
  if (/^(CRON_)?TZ=/.test(spec)) {
    const space = spec.indexOf(' ')
    // The library cuts out of bounds here, and what Go says about that is shown.
    if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]'
    const zone = spec.slice(spec.indexOf('=') + 1, space)
    if (!isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`
    spec = spec.slice(space).trim()
  }
  if (spec.startsWith('@')) return descriptorProblem(spec)
  const fields = spec.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [i, field] of fields.entries()) {
    for (const range of field.split(',')) {
      const problem = range === '' ? undefined : rangeProblem(range, bounds[i]!)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`
  try {
    parseDuration(text.slice(every.length))
    return undefined
  } catch (error) {
    return `failed to parse duration ${text}: ${(error as Error).message}`
  }
}

/** A range is `*`, `5`, `5-10` or one of these with a step. */
function rangeProblem(text: string, { min, max, names }: Bounds): string | undefined {
  const [span = '', ...steps] = text.split('/')
  const [low = '', ...highs] = span.split('-')
  let start: number | string = min
  let end: number | string = max
  if (low !== '*' && low !== '?') {
    start = numberOrName(low, names)
    if (typeof start === 'string') return start
    if (highs.length > 1) return `too many hyphens: ${text}`
    end = highs.length === 0 ? start : numberOrName(highs[0]!, names)
    if (typeof end === 'string') return end
  }
  let step: number | string = 1
  if (steps.length > 1) return `too many slashes: ${text}`
  if (steps.length === 1) {
    step = nonNegative(steps[0]!)
    if (typeof step === 'string') return step
    if (highs.length === 0) end = max
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined
}

function numberOrName(text: string, names: readonly string[] | undefined): number | string {
  const index = text === '' ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1)
  return index >= 0 ? index : nonNegative(text)
}

/** The number, or what is wrong with it. */
function nonNegative(text: string): number | string {
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  }
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}

/** Whether the name is one of the time zones of the IANA database, as Go looks them up: by their exact name. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  // An offset is a time zone here but not in the database.
  if (/^[+-]/.test(name)) return false
  try {
    const found = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return found === name || found.toLowerCase() !== name.toLowerCase()
  } catch {
    return false
  }
}
