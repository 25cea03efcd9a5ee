import { deepEqual, isJsonObject } from '@kubewright/base'

/** The result of {@link mergeJson}. */
export interface MergedJson {
  readonly text: string
  /** The fields that both sides changed in different ways: the value of the user is kept. */
  readonly kept: readonly { readonly path: string; readonly ours: unknown; readonly theirs: unknown }[]
}

/**
 * Applies the changes of fields from `base` to `theirs` to `ours`, with the order and indentation of `ours`. Undefined if one
 * of the texts is not a JSON object.
 */
export function mergeJson(base: string, ours: string, theirs: string): MergedJson | undefined {
  const values = [base, ours, theirs].map(parsed)
  const [before, mine, other] = values
  if (!isJsonObject(before) || !isJsonObject(mine) || !isJsonObject(other)) return undefined
  const kept: { path: string; ours: unknown; theirs: unknown }[] = []
  const merged = merge(before, mine, other, '', kept)
  const indent = /^[ \t]+(?=")/m.exec(ours)?.[0] ?? '  '
  const text = deepEqual(merged, mine) ? ours : `${JSON.stringify(merged, undefined, indent)}\n`
  return { text, kept }
}

type Fields = Readonly<Record<string, unknown>>

function merge(
  base: Fields,
  ours: Fields,
  theirs: Fields,
  path: string,
  kept: { path: string; ours: unknown; theirs: unknown }[],
): Fields {
  const merged: Record<string, unknown> = {}
  const value = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const [before, mine, other] = [value(base, key), value(ours, key), value(theirs, key)]
    const at = path === '' ? key : `${path}.${key}`
    let result = mine
    if (deepEqual(mine, before)) result = other
    else if (!deepEqual(other, before) && !deepEqual(other, mine)) {
      if (isJsonObject(mine) && isJsonObject(other))
        result = merge(isJsonObject(before) ? before : {}, mine, other, at, kept)
      else kept.push({ path: at, ours: mine, theirs: other })
    }
    if (result !== undefined) merged[key] = result
  }
  return merged
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
