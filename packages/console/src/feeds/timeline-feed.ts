import type { MarkView } from '../wire/change-view.ts'
import type { Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

/** The moments that the recording can show. */
export class TimelineFeed implements Feed {
  readonly #context: FeedContext
  readonly #listening: Disposable
  #isDirty = true

  constructor(context: FeedContext) {
    this.#context = context
    this.#listening = context.recording.listen(() => {
      this.#isDirty = true
      context.changed()
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { recording } = this.#context
    const { first, last } = recording
    const time = (moment: number): string => new Date(recording.timeOf(moment)).toISOString()
    const marks = viewMarks(recording)
    const timeline = { first, last, firstTime: time(first), lastTime: time(last), isCut: first > 0, marks }
    return { type: 'timeline', timeline }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }
}

/** The steps of the story with the moments that they lead to. Both lists are in order of time. */
function viewMarks({ marks, changes, first }: FeedContext['recording']): MarkView[] {
  let index = 0
  return marks.map(({ time, actor, text, source }) => {
    while ((changes[index]?.time ?? Infinity) <= time) index++
    const moment = changes[index - 1]?.number ?? first
    return { moment, time: new Date(time).toISOString(), actor, text, source }
  })
}
