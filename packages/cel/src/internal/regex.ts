import { RE2JS } from 're2js'
import { CelError } from '../cel-error.ts'

const MAX_CACHED = 1000
const compiled = new Map<string, RE2JS>()

/** The compiled pattern, from a cache; throws a CelError with Go's `error parsing regexp: …`. */
export function regexOf(pattern: string): RE2JS {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    try {
      regex = RE2JS.compile(pattern)
    } catch (e) {
      throw new CelError(e instanceof Error ? e.message : String(e))
    }
    if (compiled.size >= MAX_CACHED) compiled.clear()
    compiled.set(pattern, regex)
  }
  return regex
}

/** Whether the pattern matches anywhere in the text. */
export function matchesRegex(text: string, pattern: string): boolean {
  return regexOf(pattern).test(text)
}
