import { useEffect, useRef, useState } from 'preact/hooks'
import type { ObjectName } from '../../src/wire/names.ts'
import type { ContainerView } from '../../src/wire/object-view.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { plainText } from './visible-text.ts'

// The oldest lines beyond these are dropped.
const maxLines = 5000

/** The log of one container, followed. */
export function LogsView({
  name,
  containers,
}: {
  readonly name: ObjectName
  readonly containers: readonly ContainerView[]
}) {
  const { at } = useShared()
  const [container = containers[0]?.name ?? '', setContainer] = useState<string>()
  const [previous, setPrevious] = useState(false)
  const [lines, setLines] = useState<readonly string[]>([])
  const [problem, setProblem] = useState<string>()
  const end = useRef<HTMLDivElement>(null)
  // A container that starts again has a new log.
  const run = containers.find((one) => one.name === container)?.run
  useEffect(() => {
    setLines([])
    setProblem(undefined)
    return connection.follow({ type: 'logs', object: name, container, previous, at }, (update) => {
      if (update.type !== 'logs') return
      setProblem(update.problem)
      setLines((old) => [...(update.reset ? [] : old), ...update.lines].slice(-maxLines))
    })
  }, [JSON.stringify(name), container, run, previous, at])
  // Follows the end until the user scrolls up.
  useEffect(() => {
    const panel = end.current?.parentElement
    if (panel && panel.scrollHeight - panel.scrollTop - panel.clientHeight < 200) end.current?.scrollIntoView()
  }, [lines])
  return (
    <>
      <div class="toolbar">
        <select
          aria-label={text('container')}
          value={container}
          onChange={({ currentTarget }) => setContainer(currentTarget.value)}
        >
          {containers.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={previous}
            onChange={({ currentTarget }) => setPrevious(currentTarget.checked)}
          />
          {text('previousLog')}
        </label>
      </div>
      {problem && <p class="problem">{problem}</p>}
      {lines.length === 0 && !problem && <p class="quiet">{text('noLog')}</p>}
      <pre class="log" role="log" aria-label={text('logs')}>
        {plainText(lines.join('\n'))}
      </pre>
      <div ref={end} />
    </>
  )
}
