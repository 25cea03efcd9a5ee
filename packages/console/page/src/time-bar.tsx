import type { MarkView } from '../../src/wire/change-view.ts'
import { clockTime } from './age.ts'
import { changeText } from './change-text.ts'
import { connection } from './connection.ts'
import { objectRoute, routeHash } from './route.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { useChanges } from './use-changes.ts'
import { useTopic } from './use-topic.ts'

/** The time line: moves the whole page to a moment of the recording, or back to the present. */
export function TimeBar() {
  const { at, setAt } = useShared()
  const timeline = useTopic({ type: 'timeline' })?.timeline
  const [change] = useChanges({ type: 'changes', limit: 1 }) ?? []
  if (timeline === undefined) return null
  const { first, last, firstTime, lastTime, isCut, marks } = timeline
  const isRecording = connection.hello?.isRecording ?? false
  const moment = Math.min(Math.max(at ?? last, first), last)
  // Moving to the end of a live cluster means following it again.
  const move = (to: number): void => setAt(to >= last && !isRecording ? undefined : Math.max(first, Math.min(last, to)))
  const time = moment === first ? firstTime : (change?.time ?? lastTime)
  const where = moment === first ? text(isCut ? 'oldestKept' : 'recordingStart') : change && changeText(change)
  return (
    <section class={at === undefined ? 'time-bar' : 'time-bar past'} aria-label={text('timeline')}>
      <button type="button" aria-label={text('stepBack')} disabled={moment <= first} onClick={() => move(moment - 1)}>
        ◀
      </button>
      <input
        type="range"
        aria-label={text('moment')}
        aria-valuetext={`${clockTime(time)} ${where ?? ''}`}
        min={first}
        max={last}
        value={moment}
        list={marks.length > 0 ? 'marks' : undefined}
        onInput={({ currentTarget }) => move(Number(currentTarget.value))}
      />
      {marks.length > 0 && (
        <datalist id="marks">
          {shownMarks(marks).map((mark) => (
            <option key={mark} value={mark} />
          ))}
        </datalist>
      )}
      <button type="button" aria-label={text('stepOn')} disabled={moment >= last} onClick={() => move(moment + 1)}>
        ▶
      </button>
      {!isRecording && (
        <button type="button" class={at === undefined ? 'primary' : undefined} onClick={() => setAt(undefined)}>
          {text('now')}
        </button>
      )}
      <span class="moment">
        <time class="code" dateTime={time}>
          {clockTime(time)}
        </time>{' '}
        <span class="quiet">{text('changeNumber', moment, last)}</span>{' '}
        {moment > first && change ? (
          <a href={routeHash(objectRoute(change.object, 'history'))} title={where}>
            {where}
          </a>
        ) : (
          <span class="quiet">{where}</span>
        )}
      </span>
      <a class="button" href="recording" download>
        {text('exportRecording')}
      </a>
    </section>
  )
}

/** The moments of operations, faults and verdicts. The many steps of the operator would hide them. */
function shownMarks(marks: readonly MarkView[]): number[] {
  const moments = marks.filter(({ actor }) => actor !== 'operator' && actor !== 'cluster').map(({ moment }) => moment)
  return [...new Set(moments)]
}
