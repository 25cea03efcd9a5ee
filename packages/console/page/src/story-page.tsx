import { clockTime } from './age.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { useTopic } from './use-topic.ts'

/** The steps of the story in a recording. A step moves the page to its moment. */
export function StoryPage() {
  const { at, setAt } = useShared()
  const timeline = useTopic({ type: 'timeline' })?.timeline
  const current = at ?? timeline?.last
  return (
    <div class="operators">
      <h1>{text('story')}</h1>
      <ol class="story">
        {timeline?.marks.map(({ moment, time, actor, text: sentence, source }, index) => (
          <li key={index} class={actor}>
            <button
              type="button"
              class="plain code"
              aria-label={text('goToStep', sentence)}
              aria-pressed={moment === current}
              onClick={() => setAt(moment)}
            >
              {clockTime(time)}
            </button>
            <span class="actor">{actor}</span>
            <span>
              {sentence}
              {source && <small class="code"> {source}</small>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
