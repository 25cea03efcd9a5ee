import { createRequire } from 'node:module'
import { errorText } from '@kubewright/base'
import type * as Re2 from 're2js'
import type { RE2JS } from 're2js'
import { CelError } from './cel-error.ts'

const MAX_CACHED = 1000
const compiled = new Map<string, RE2JS>()

let loaded: typeof Re2 | undefined

/** Loads the engine on first use: most processes compile no pattern, and the import takes a third of the load time of this package. */
function engine(): typeof RE2JS {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2
  return loaded.RE2JS
}

/**
 * Returns the compiled pattern in RE2's syntax, from a cache. Matching takes linear time. Throws a CelError with Go's
 * `error parsing regexp: …`.
 */
export function regexOf(pattern: string): RE2JS {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    try {
      regex = engine().compile(pattern)
    } catch (e) {
      const text = errorText(e)
      // Go quotes the unparsable part even if it is empty, for example after a trailing backslash.
      throw new CelError(text.endsWith('`') ? text : `${text}: \`\``)
    }
    // Bounds the cache: a long-lived server compiles an unlimited number of expressions.
    if (compiled.size >= MAX_CACHED) compiled.clear()
    compiled.set(pattern, regex)
  }
  return regex
}

/** Reports whether the pattern matches anywhere in the text. */
export function matchesRegex(text: string, pattern: string): boolean {
  return regexOf(pattern).test(text)
}
