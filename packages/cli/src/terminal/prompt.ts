import { createInterface } from 'node:readline'
import { KubewrightError } from '@kubewright/base'
import { InterruptedError } from './interrupted-error.ts'

/** The streams of a {@link Prompt}. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/**
 * Asks questions of one line each. Occupies the terminal only while a question is open. Lines that arrive before their question, as when
 * the user pastes several answers, are kept for the next questions.
 */
export class Prompt {
  readonly #streams: PromptStreams
  readonly #early: string[] = []
  #begun = ''

  constructor(streams: PromptStreams) {
    this.#streams = streams
  }

  /** Resolves to the answer. Rejects with {@link InterruptedError} on Ctrl-C or if the signal aborts, and with another error at the end of the input. */
  async ask(question: string, signal?: AbortSignal): Promise<string> {
    const { output } = this.#streams
    const early = this.#early.shift()
    if (early !== undefined) {
      output.write(`${question}${early}\n`)
      return early
    }
    const lines = createInterface({ ...this.#streams, historySize: 0 })
    const stop = new AbortController()
    try {
      return await new Promise<string>((resolve, reject) => {
        let isAnswered = false
        lines.on('line', (line) => {
          if (isAnswered) this.#early.push(line)
          else resolve(line)
          isAnswered = true
        })
        lines.once('SIGINT', () => reject(new InterruptedError()))
        lines.once('close', () => reject(new KubewrightError('KW_COMMAND', 'no answer: the input ended')))
        signal?.addEventListener('abort', () => reject(new InterruptedError()), { once: true, signal: stop.signal })
        if (signal?.aborted) reject(new InterruptedError())
        lines.setPrompt(question)
        lines.prompt()
        if (this.#begun !== '') lines.write(this.#begun)
        this.#begun = ''
      })
    } catch (error) {
      output.write('\n')
      throw error
    } finally {
      stop.abort()
      // The part of the next answer that is already typed.
      this.#begun = lines.line
      lines.close()
    }
  }
}
