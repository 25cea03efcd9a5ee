import { createInterface } from 'node:readline'
import { InterruptedError } from './interrupted-error.ts'

/** What {@link Prompt} reads from and writes to. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/**
 * Asks questions, one line each. The terminal is only taken over while a question is open. Lines that come faster than questions, as
 * when somebody pastes several answers, are kept for the questions to come.
 */
export class Prompt {
  readonly #streams: PromptStreams
  readonly #early: string[] = []
  #begun = ''

  constructor(streams: PromptStreams) {
    this.#streams = streams
  }

  /** The answer. Throws {@link InterruptedError} on Ctrl-C and when the signal aborts, another error at the end of the input. */
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
        lines.once('close', () => reject(new Error('there was no answer, as the input ended')))
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
      // What was typed of the next answer.
      this.#begun = lines.line
      lines.close()
    }
  }
}
