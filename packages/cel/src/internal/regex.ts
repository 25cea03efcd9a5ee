import { createRequire } from 'node:module'
import { errorText } from '@kubewright/base'
import type * as Re2 from 're2js'
import type { RE2JS } from 're2js'
import { CelError } from '../cel-error.ts'
import { RegexAutomaton } from './regex-automaton.ts'
import { parseRegex } from './regex-syntax.ts'

const MAX_CACHED = 1000
const compiled = new Map<string, Regex>()

let loaded: typeof Re2 | undefined

/**
 * Compiles a pattern with the full engine. The engine is loaded on first use: most patterns do not need it, and
 * importing it takes a third of the load time of this package.
 */
function compile(pattern: string): RE2JS {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2
  try {
    return loaded.RE2JS.compile(pattern)
  } catch (e) {
    // Go quotes the unparsable part even if it is empty, for example after a trailing backslash.
    if (e instanceof Error && !e.message.endsWith('`')) throw new Error(`${e.message}: \`\``)
    throw e
  }
}

/** A valid regular expression in RE2's syntax. Matching takes linear time. */
export class Regex {
  readonly #pattern: string
  readonly #automaton: RegexAutomaton | undefined
  #engine: RE2JS | undefined

  /** Throws RE2's `error parsing regexp: …` for an invalid pattern. Prefer {@link regexOf}, which caches. */
  constructor(pattern: string) {
    this.#pattern = pattern
    const node = parseRegex(pattern)
    if (node === undefined) this.#engine = compile(pattern)
    else this.#automaton = RegexAutomaton.of(node)
  }

  /** The full engine, which can also locate matches. */
  get engine(): RE2JS {
    this.#engine ??= compile(this.#pattern)
    return this.#engine
  }

  /** Reports whether the pattern matches anywhere in the text. */
  test(text: string): boolean {
    return this.#automaton?.test(text) ?? this.engine.test(text)
  }
}

/** Returns the compiled pattern from a cache. Throws a CelError with Go's `error parsing regexp: …`. */
export function regexOf(pattern: string): Regex {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    try {
      regex = new Regex(pattern)
    } catch (e) {
      throw new CelError(errorText(e))
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
