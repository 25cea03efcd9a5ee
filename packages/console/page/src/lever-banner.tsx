import type { LeverAction } from '../../src/wire/lever-view.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { useTopic } from './use-topic.ts'

const steps = [
  { label: '1s', millis: 1000 },
  { label: '1m', millis: 60_000 },
  { label: '1h', millis: 3_600_000 },
]

/** Performs the action of a lever, and shows a failure. */
export function usePull(): (action: LeverAction) => Promise<number | undefined> {
  const { notify } = useShared()
  return async (action) => {
    const { error, count } = await connection.request(action)
    if (error !== undefined) notify(error, true)
    return count
  }
}

/** Shows what the levers have caused as long as it lasts: paused controllers, armed faults, and virtual time. */
export function LeverBanner() {
  const kinds = connection.hello?.levers
  const offers = kinds !== undefined && Object.values(kinds).some(Boolean)
  const levers = useTopic(offers ? { type: 'levers' } : undefined)?.levers
  const pull = usePull()
  if (levers === undefined) return null
  const { faults, paused, time } = levers
  if (faults.length + paused.length === 0 && time === undefined) return null
  return (
    <aside class="levers" aria-label={text('levers')}>
      {paused.map(({ operator, name, controller }) => (
        <span key={`${operator} ${controller}`} class="lever">
          {text('isPaused', `${name} / ${controller}`)}
          <button type="button" onClick={() => void pull({ type: 'control', operator, controller, command: 'step' })}>
            {text('step')}
          </button>
          <button type="button" onClick={() => void pull({ type: 'control', operator, controller, command: 'resume' })}>
            {text('resume')}
          </button>
        </span>
      ))}
      {faults.map(({ id, group, plural, status, remaining }) => (
        <span key={id} class="lever">
          {text('armedFault', remaining, group === '' ? plural : `${plural}.${group}`, status)}
          <button type="button" onClick={() => void pull({ type: 'disarm', id })}>
            {text('disarm')}
          </button>
        </span>
      ))}
      {time !== undefined && (
        <span class="lever">
          {text('virtualTime')}{' '}
          <time class="code" dateTime={time}>
            {time.replace('T', ' ').replace('Z', '')}
          </time>
          {steps.map(({ label, millis }) => (
            <button
              key={label}
              type="button"
              aria-label={text('advanceBy', label)}
              onClick={() => void pull({ type: 'advance', millis })}
            >
              +{label}
            </button>
          ))}
        </span>
      )}
    </aside>
  )
}
