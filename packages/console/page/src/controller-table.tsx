import type { ControllerView } from '../../src/wire/operator-view.ts'
import { shortDuration } from './age.ts'
import { text } from './text.ts'

/** The controllers with their queues. Selecting one limits the list of reconciles to it. */
export function ControllerTable(props: {
  readonly controllers: readonly ControllerView[]
  readonly selected: string | undefined
  readonly onSelect: (name: string | undefined) => void
}) {
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
        </tr>
      </thead>
      <tbody>
        {props.controllers.map((controller) => {
          const { name, kind, ready, processing, waiting, problems } = controller
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
                <small class="quiet">{kind}</small>
              </td>
              <td>{ready}</td>
              <td>{processing}</td>
              <td>{waiting}</td>
              <td>{nextAttempt(controller)}</td>
              <td class={problems.length > 0 ? 'bad' : undefined}>{problems.join('; ')}</td>
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
