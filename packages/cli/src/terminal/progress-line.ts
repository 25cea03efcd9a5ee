import type { Clock, Timer } from '@kubewright/base'
import type { Progress } from './terminal.ts'
import { cutText } from './text-width.ts'

/** The part of a stream that drawing on a terminal needs. */
export interface ScreenStream {
  readonly columns?: number | undefined
  write(text: string): unknown
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const frameMillis = 120
// A wait that ends sooner is not shown, because it would only flicker.
const quietMillis = 240
// The elapsed time is shown from here on.
const elapsedMillis = 2000
/** Clears the line of the cursor. */
export const erase: string = '\r\u001B[K'

/** Redraws a line on a terminal, with the elapsed time. The line is never wider than the terminal. */
export class ProgressLine implements Progress {
  readonly #stream: ScreenStream
  readonly #clock: Clock
  #text: string | undefined
  #since = 0
  #frame = 0
  #isDrawn = false
  #timer: Timer | undefined

  constructor(stream: ScreenStream, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
  }

  show(text: string): void {
    if (this.#text === undefined) this.#since = this.#clock.monotonic()
    this.#text = text
    if (this.#isDrawn) this.#draw()
    this.#timer ??= this.#clock.setTimer(quietMillis, () => this.#next())
  }

  clear(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#text = undefined
    this.erase()
  }

  /** Clears the line before another line is written. The next frame appears below that. */
  erase(): void {
    if (this.#isDrawn) this.#stream.write(erase)
    this.#isDrawn = false
  }

  #next(): void {
    this.#frame = (this.#frame + 1) % frames.length
    this.#draw()
    this.#timer = this.#clock.setTimer(frameMillis, () => this.#next())
  }

  #draw(): void {
    const passed = this.#clock.monotonic() - this.#since
    const time = passed < elapsedMillis ? '' : ` (${Math.floor(passed / 1000)}s)`
    // Leaves room for the ^C that terminals show, and for the last column, after which some wrap.
    const room = (this.#stream.columns ?? 80) - time.length - 5
    const shown = cutText(this.#text ?? '', Math.max(room, 1))
    this.#stream.write(`${erase}${frames[this.#frame]} ${shown}${time}`)
    this.#isDrawn = true
  }
}
