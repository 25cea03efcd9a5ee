import { isSupportedFormat } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { jsonText } from '../text/json-text.ts'
import type { Report } from './crd-change.ts'

const lowerBounds = ['minimum', 'minLength', 'minItems', 'minProperties'] as const
const upperBounds = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const

/** Reports the values that a schema newly rejects or accepts, judged by its keywords for values. */
export function compareBounds(before: JSONSchemaProps, after: JSONSchemaProps, path: string, report: Report): void {
  for (const keyword of lowerBounds) compareBound(keyword, before[keyword], after[keyword], 1, path, report)
  for (const keyword of upperBounds) compareBound(keyword, before[keyword], after[keyword], -1, path, report)
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum'] as const) {
    if ((before[keyword] ?? false) === (after[keyword] ?? false)) continue
    if (after[keyword]) report('breaking', path, `${keyword} added: the bound itself is no longer allowed`)
    else report('safe', path, `${keyword} removed`)
  }
  compareMultiple(before.multipleOf, after.multipleOf, path, report)
  compareText('pattern', before.pattern, after.pattern, path, report)
  compareFormat(before.format, after.format, path, report)
  compareEnums(before.enum, after.enum, path, report)
}

function compareBound(
  keyword: string,
  before: number | undefined,
  after: number | undefined,
  tighter: 1 | -1,
  path: string,
  report: Report,
): void {
  if (before === after) return
  if (after === undefined) report('safe', path, `${keyword} ${before} removed`)
  else if (before === undefined) report('breaking', path, `${keyword} ${after} added`)
  else {
    const isTighter = (after - before) * tighter > 0
    const how = after > before ? 'raised' : 'lowered'
    report(isTighter ? 'breaking' : 'safe', path, `${keyword} ${how} from ${before} to ${after}`)
  }
}

function compareMultiple(before: number | undefined, after: number | undefined, path: string, report: Report): void {
  if (before === after) return
  if (after === undefined) report('safe', path, `multipleOf ${before} removed`)
  else if (before === undefined) report('breaking', path, `multipleOf ${after} added`)
  else {
    const covers = Number.isInteger(before / after)
    report(covers ? 'safe' : 'breaking', path, `multipleOf changed from ${before} to ${after}`)
  }
}

function compareText(
  keyword: string,
  before: string | undefined,
  after: string | undefined,
  path: string,
  report: Report,
): void {
  if ((before ?? '') === (after ?? '')) return
  if (!after) report('safe', path, `${keyword} removed: ${before}`)
  else if (!before) report('breaking', path, `${keyword} added: ${after}`)
  else report('breaking', path, `${keyword} changed from ${before} to ${after}`)
}

const numberFormats: readonly string[] = ['int32', 'int64', 'float', 'double']

function compareFormat(before: string | undefined, after: string | undefined, path: string, report: Report): void {
  if ((before ?? '') === (after ?? '')) return
  const isChecked = (format: string): boolean => isSupportedFormat(format) || numberFormats.includes(format)
  // API servers ignore unknown formats.
  if (!after || !isChecked(after)) {
    report('safe', path, after ? `format is now ${after}, which servers do not check` : `format ${before} removed`)
  } else if (before === 'int32' && after === 'int64') report('safe', path, 'format widened from int32 to int64')
  else compareText('format', before, after, path, report)
}

function compareEnums(
  before: readonly unknown[] | undefined,
  after: readonly unknown[] | undefined,
  path: string,
  report: Report,
): void {
  if (!before?.length && !after?.length) return
  const list = (values: readonly unknown[]): string => values.map((value) => jsonText(value)).join(', ')
  if (!after?.length) report('safe', path, `any value is allowed now, not only ${list(before ?? [])}`)
  else if (!before?.length) report('breaking', path, `only ${list(after)} are allowed now`)
  else {
    const texts = (values: readonly unknown[]): Set<string> => new Set(values.map((value) => jsonText(value)))
    const [old, now] = [texts(before), texts(after)]
    const removed = before.filter((value) => !now.has(jsonText(value)))
    const added = after.filter((value) => !old.has(jsonText(value)))
    if (removed.length > 0) report('breaking', path, `no longer allowed: ${list(removed)}`)
    if (added.length > 0) report('safe', path, `allowed now: ${list(added)}`)
  }
}
