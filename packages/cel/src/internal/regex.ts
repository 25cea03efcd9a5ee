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

/** The engine, loaded with the first pattern that needs it: most do not, and its import costs a third of this package's. */
function compile(pattern: string): RE2JS {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2
  try {
    return loaded.RE2JS.compile(pattern)
  } catch (e) {
    // Go quotes the part that it cannot parse also when there is none, as after a last backslash.
    if (e instanceof Error && !e.message.endsWith('`')) throw new Error(`${e.message}: \`\``)
    throw e
  }
}

/** A valid regular expression of RE2's syntax, which matches in linear time. */
export class Regex {
  readonly #pattern: string
  readonly #automaton: RegexAutomaton | undefined
  #engine: RE2JS | undefined

  /** Throws RE2's `error parsing regexp: …` for a pattern that is not valid; prefer {@link regexOf}, which caches. */
  constructor(pattern: string) {
    this.#pattern = pattern
    const node = parseRegex(pattern)
    if (node === undefined) this.#engine = compile(pattern)
    else this.#automaton = RegexAutomaton.of(node)
  }

  /** The engine that can also tell where a match is. */
  get engine(): RE2JS {
    this.#engine ??= compile(this.#pattern)
    return this.#engine
  }

  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean {
    return this.#automaton?.test(text) ?? this.engine.test(text)
  }
}

/** The compiled pattern, from a cache; throws a CelError with Go's `error parsing regexp: …`. */
export function regexOf(pattern: string): Regex {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    try {
      regex = new Regex(pattern)
    } catch (e) {
      throw new CelError(errorText(e))
    }
    // Expressions come and go in long-lived servers: forget rather than grow without bound.
    if (compiled.size >= MAX_CACHED) compiled.clear()
    compiled.set(pattern, regex)
  }
  return regex
}

/** Whether the pattern matches anywhere in the text. */
export function matchesRegex(text: string, pattern: string): boolean {
  return regexOf(pattern).test(text)
}
