import type { Clock, Timer } from '@kubewright/base'
import type { Progress } from './terminal.ts'
import { cutText } from './text-width.ts'

/** As much of a stream as it takes to draw on a terminal. */
export interface ScreenStream {
  readonly columns?: number
  write(text: string): unknown
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const frameMillis = 120
// What is over by then is not told: it would only flicker.
const quietMillis = 240
// Before that nobody wants to know.
const tellingMillis = 2000
/** Makes the line that the cursor is in empty. */
export const erase: string = '\r\u001B[K'

/** Draws a line on a terminal over and over, with the time that has passed. It is never wider than the terminal. */
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

  /** Makes room for another line; the next frame comes below it. */
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
    const time = passed < tellingMillis ? '' : ` (${Math.floor(passed / 1000)}s)`
    // Room is left for the ^C that terminals show, and for the last column, after which some go to the next line.
    const room = (this.#stream.columns ?? 80) - time.length - 5
    const shown = cutText(this.#text ?? '', Math.max(room, 1))
    this.#stream.write(`${erase}${frames[this.#frame]} ${shown}${time}`)
    this.#isDrawn = true
  }
}
