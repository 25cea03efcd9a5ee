import type { Token, TokenKind } from './lexer.ts'
import type { SourceIssue } from './source.ts'
import { type Element, GRAMMAR, printTokens, type RuleName, type Sequence } from './syntax-grammar.ts'
import { NoViableAlternative, predict } from './syntax-prediction.ts'
import { expectedIn, firstOf, type Rest, type RuleFrame, restOf } from './syntax-rest.ts'

const RECOVERY_LIMIT = 30

class Mismatch extends Error {}
class TooManyRecoveries extends Error {}

/**
 * Returns the syntax errors of an expression that does not parse, with the texts and the default error recovery of
 * ANTLR's parser, because cel-go's messages come from there.
 */
export function diagnoseSyntax(source: string, tokens: readonly Token[]): SourceIssue[] {
  return new Diagnosis(source, tokens).run()
}

class Diagnosis {
  readonly #source: string
  readonly #tokens: readonly Token[]
  readonly #issues: SourceIssue[] = []
  #at = 0
  /** The position in the grammar, which determines the expected tokens. */
  #state: Rest | undefined
  #stateId = ''
  #frame: RuleFrame = { follow: undefined, precedence: 0, caller: undefined }
  /** True after a report until a token matches; meanwhile no further errors are reported. */
  #isRecovering = false
  #lastErrorAt = -1
  #lastErrorStates = new Set<string>()
  #recoveries = 0

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source
    this.#tokens = tokens
  }

  run(): SourceIssue[] {
    try {
      this.#rule('start', 0, undefined)
    } catch (e) {
      if (!(e instanceof TooManyRecoveries)) throw e
    }
    return this.#issues
  }

  #la(offset = 0): TokenKind {
    return this.#tokens[Math.min(this.#at + offset, this.#tokens.length - 1)]!.kind
  }

  get #token(): Token {
    return this.#tokens[this.#at]!
  }

  #consume(): void {
    if (this.#la() !== 'EOF') this.#at++
  }

  #setState(rest: Rest | undefined, place: string): void {
    this.#state = rest
    this.#stateId = `${rest?.element.id}${place}`
  }

  #rule(name: RuleName, precedence: number, follow: Rest | undefined): void {
    const outer = this.#frame
    this.#frame = { follow, precedence, caller: outer }
    try {
      this.#sequence(GRAMMAR[name], undefined)
    } catch (e) {
      if (!(e instanceof Mismatch) && !(e instanceof NoViableAlternative)) throw e
      this.#reportError(e)
      this.#recover()
    }
    this.#frame = outer
  }

  #sequence(seq: Sequence, after: Rest | undefined): void {
    for (let rest = restOf(seq, after); rest !== after; rest = rest!.next) this.#element(rest!)
  }

  #element(here: Rest): void {
    const { element, next } = here
    this.#setState(here, '')
    switch (element.type) {
      case 'token':
        this.#match(element.kinds)
        break
      case 'rule':
        this.#rule(element.name, element.precedence, next)
        break
      case 'optional':
        this.#syncBlock()
        if (firstOf(restOf(element.body, undefined)).kinds.has(this.#la())) this.#sequence(element.body, next)
        break
      case 'choice':
        this.#syncBlock()
        this.#choose(here)
        break
      case 'loop':
        this.#loop(here)
    }
  }

  #choose(here: Rest): void {
    const element = here.element as Element & { type: 'choice' }
    let index: number
    if (element.adaptive) {
      index = predict(this.#tokens, this.#at, here, this.#frame)
    } else {
      index = element.alternatives.findIndex((a) => firstOf(restOf(a.body, undefined)).kinds.has(this.#la()))
      if (index < 0) throw new NoViableAlternative(this.#at, this.#at)
    }
    this.#sequence(element.alternatives[index]!.body, here.next)
  }

  #loop(here: Rest): void {
    const element = here.element as Element & { type: 'loop' }
    // After the body, the loop may run again.
    const again: Rest = element.atLeastOne ? { element: { ...element, atLeastOne: false }, next: here.next } : here
    this.#syncBlock()
    if (element.atLeastOne) this.#iterate(element.body, again)
    while (this.#entersLoop(again)) this.#iterate(element.body, again)
  }

  #iterate(body: Sequence, again: Rest): void {
    this.#sequence(body, again)
    this.#setState(again, ':back')
    this.#syncLoopBack()
  }

  #entersLoop(here: Rest): boolean {
    const element = here.element as Element & { type: 'loop' }
    if (!element.adaptive) return firstOf(restOf(element.body, undefined)).kinds.has(this.#la())
    return predict(this.#tokens, this.#at, here, this.#frame) === 0
  }

  #match(kinds: ReadonlySet<TokenKind>): void {
    if (kinds.has(this.#la())) {
      this.#isRecovering = false
      this.#consume()
      return
    }
    this.#countRecovery()
    if (this.#deleteToken()) {
      this.#consume()
      return
    }
    if (this.#insertToken()) return
    throw new Mismatch()
  }

  /** Handles a surplus token: if the next token fits, drops this one. */
  #deleteToken(): boolean {
    if (!this.#expected().has(this.#la(1))) return false
    this.#reportUnwanted()
    this.#consume()
    this.#isRecovering = false
    return true
  }

  /** Handles a missing token: if this token fits after the missing one, continues as if it were there. */
  #insertToken(): boolean {
    if (!expectedIn(this.#state?.next, this.#frame).has(this.#la())) return false
    if (!this.#isRecovering) {
      this.#isRecovering = true
      this.#notify(this.#token, `missing ${printTokens(this.#expected())} at ${quoted(this.#token.text)}`)
    }
    return true
  }

  #syncBlock(): void {
    if (this.#isRecovering) return
    const next = firstOf(this.#state)
    if (next.canEnd || next.kinds.has(this.#la())) return
    if (this.#deleteToken()) return
    throw new Mismatch()
  }

  #syncLoopBack(): void {
    if (this.#isRecovering) return
    const next = firstOf(this.#state)
    if (next.canEnd || next.kinds.has(this.#la())) return
    this.#reportUnwanted()
    this.#skipTo(new Set([...this.#expected(), ...this.#recoverySet()]))
  }

  #expected(): Set<TokenKind> {
    return expectedIn(this.#state, this.#frame)
  }

  #reportUnwanted(): void {
    if (this.#isRecovering) return
    this.#isRecovering = true
    this.#notify(this.#token, `extraneous input ${quoted(this.#token.text)} expecting ${printTokens(this.#expected())}`)
  }

  #reportError(e: Mismatch | NoViableAlternative): void {
    if (this.#isRecovering) return
    this.#isRecovering = true
    if (!(e instanceof NoViableAlternative)) {
      this.#notify(
        this.#token,
        `mismatched input ${quoted(this.#token.text)} expecting ${printTokens(this.#expected())}`,
      )
      return
    }
    const first = this.#tokens[e.start]!
    const last = this.#tokens[e.offending]!
    const text =
      first.kind === 'EOF' ? '<EOF>' : this.#source.slice(first.start, last.kind === 'EOF' ? undefined : last.end)
    const keyword = /^.(true|false|null)$/s.exec(text)
    this.#notify(
      last,
      // cel-go rewrites this message to the text of older ANTLR versions.
      keyword === null
        ? `no viable alternative at input ${quoted(last.kind === 'EOF' ? trimmedText(this.#tokens, e) : text)}`
        : `mismatched input '${keyword[1]}' expecting IDENTIFIER`,
    )
  }

  #notify(token: Token, message: string): void {
    this.#issues.push({ offset: token.start, message: `Syntax error: ${message}` })
  }

  /** Skips to a token at which an active rule can continue. */
  #recover(): void {
    this.#countRecovery()
    if (this.#lastErrorAt === this.#at && this.#lastErrorStates.has(this.#stateId)) this.#consume()
    this.#lastErrorAt = this.#at
    this.#lastErrorStates.add(this.#stateId)
    this.#skipTo(this.#recoverySet())
  }

  #countRecovery(): void {
    if (this.#recoveries === RECOVERY_LIMIT) {
      this.#notify(this.#token, `error recovery attempt limit exceeded: ${RECOVERY_LIMIT}`)
      throw new TooManyRecoveries()
    }
    this.#recoveries++
  }

  #recoverySet(): Set<TokenKind> {
    const set = new Set<TokenKind>()
    for (let frame: RuleFrame | undefined = this.#frame; frame?.caller !== undefined; frame = frame.caller) {
      for (const kind of firstOf(frame.follow).kinds) set.add(kind)
    }
    return set
  }

  #skipTo(kinds: ReadonlySet<TokenKind>): void {
    while (this.#la() !== 'EOF' && !kinds.has(this.#la())) this.#consume()
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`
}

/** Returns the text up to the last token before the end. */
function trimmedText(tokens: readonly Token[], e: NoViableAlternative): string {
  return tokens
    .slice(e.start, e.offending)
    .map((token) => token.text)
    .join('')
}
