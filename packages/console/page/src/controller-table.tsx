import type { ControllerView } from '../../src/wire/operator-view.ts'
import { shortDuration } from './age.ts'
import { connection } from './connection.ts'
import { usePull } from './lever-banner.tsx'
import { useShared } from './settings.ts'
import { text } from './text.ts'

/** The controllers with their queues. Selecting one limits the list of reconciles to it. */
export function ControllerTable(props: {
  /** The index of the operator. */
  readonly operator: number
  readonly controllers: readonly ControllerView[]
  readonly selected: string | undefined
  readonly onSelect: (name: string | undefined) => void
}) {
  const { readOnly } = useShared()
  const pull = usePull()
  const offersLevers = !readOnly && connection.hello?.levers.controllers === true
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th>{text('controller')}</th>
          <th>{text('ready')}</th>
          <th>{text('processing')}</th>
          <th>{text('waiting')}</th>
          <th>{text('next')}</th>
          <th>{text('problems')}</th>
          {offersLevers && <th>{text('levers')}</th>}
        </tr>
      </thead>
      <tbody>
        {props.controllers.map((controller) => {
          const { name, kind, ready, processing, waiting, problems, isPaused } = controller
          const isSelected = props.selected === name
          return (
            <tr key={name} class={isSelected ? 'selected' : undefined}>
              <td>
                <button
                  type="button"
                  class="plain"
                  aria-pressed={isSelected}
                  onClick={() => props.onSelect(isSelected ? undefined : name)}
                >
                  {name}
                </button>{' '}
                <small class="quiet">{kind}</small> {isPaused && <span class="badge">{text('pausedController')}</span>}
              </td>
              <td>{ready}</td>
              <td>{processing}</td>
              <td>{waiting}</td>
              <td>{nextAttempt(controller)}</td>
              <td class={problems.length > 0 ? 'bad' : undefined}>{problems.join('; ')}</td>
              {offersLevers && (
                <td class="levers-cell">
                  {([isPaused ? 'resume' : 'pause', 'step'] as const).map((command, index) => (
                    <button
                      // One element for both commands of the first place, so that it keeps the focus.
                      key={index}
                      type="button"
                      onClick={() =>
                        void pull({ type: 'control', operator: props.operator, controller: name, command })
                      }
                    >
                      {text(command)}
                    </button>
                  ))}
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** The waiting key that comes first. */
function nextAttempt({ keys }: ControllerView): string {
  const [next] = keys.filter(({ state }) => state === 'waiting').sort((a, b) => a.time - b.time)
  return next === undefined ? '' : `${next.key} · ${shortDuration(next.time)}`
}
