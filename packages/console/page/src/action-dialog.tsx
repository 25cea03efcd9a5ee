import { useState } from 'preact/hooks'
import type { Action } from '../../src/wire/messages.ts'
import type { ObjectName } from '../../src/wire/names.ts'
import type { ObjectView } from '../../src/wire/object-view.ts'
import { Dialog } from './dialog.tsx'
import { text } from './text.ts'

/** An action with a dialog. */
export type ActionName = 'delete' | 'scale' | 'restart' | 'label' | 'evict' | 'cordon' | 'uncordon' | 'drain'
type Propagation = Extract<Action, { type: 'delete' }>['propagation']

/** Asks for the details of an action. */
export function ActionDialog(props: {
  readonly action: ActionName
  readonly name: ObjectName
  readonly object: ObjectView
  readonly onPerform: (action: Action) => Promise<void>
  readonly onClose: () => void
}) {
  const { action, name, object } = props
  const [replicas, setReplicas] = useState(object.replicas ?? 0)
  const [propagation, setPropagation] = useState<Propagation>('Background')
  const [label, setLabel] = useState('')
  const labels = parseLabel(label)
  const subject = `${object.kind} ${object.name}`
  const request: Action | undefined =
    action === 'delete'
      ? { type: action, object: name, propagation, uid: object.uid }
      : action === 'scale'
        ? { type: action, object: name, replicas }
        : action === 'label'
          ? labels && { type: action, object: name, labels }
          : { type: action, object: name }
  const title =
    action === 'delete'
      ? text('deleteTitle', subject)
      : action === 'restart'
        ? text('restartTitle', subject)
        : `${text(action)}: ${subject}`
  return (
    <Dialog label={title} onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (request !== undefined) void props.onPerform(request)
        }}
      >
        <h2>{title}</h2>
        {action === 'scale' && (
          <label>
            {text('replicas')}{' '}
            <input
              type="number"
              min="0"
              value={replicas}
              onInput={({ currentTarget }) => setReplicas(Number(currentTarget.value))}
            />
          </label>
        )}
        {action === 'delete' && (
          <label>
            {text('propagation')}{' '}
            <select
              value={propagation}
              onChange={({ currentTarget }) => setPropagation(currentTarget.value as Propagation)}
            >
              <option value="Background">{text('background')}</option>
              <option value="Foreground">{text('foreground')}</option>
              <option value="Orphan">{text('orphan')}</option>
            </select>
          </label>
        )}
        {isNodeAction(action) && <p>{text(`${action}Hint`)}</p>}
        {action === 'label' && (
          <label>
            {text('labelHint')} <input value={label} onInput={({ currentTarget }) => setLabel(currentTarget.value)} />
          </label>
        )}
        <div class="buttons">
          <button type="button" onClick={props.onClose}>
            {text('cancel')}
          </button>
          <button type="submit" class={action === 'delete' ? 'danger' : 'primary'} disabled={request === undefined}>
            {text(action)}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Whether an action concerns where pods run, which its dialog explains. */
const isNodeAction = (action: ActionName): action is 'evict' | 'cordon' | 'uncordon' | 'drain' =>
  ['evict', 'cordon', 'uncordon', 'drain'].includes(action)

/** Reads `NAME=VALUE` or `NAME-`, as `kubectl label` does. */
export function parseLabel(typed: string): Record<string, string | null> | undefined {
  const set = /^\s*([^=\s]+)=(\S*)\s*$/.exec(typed)
  if (set) return { [set[1] ?? '']: set[2] ?? '' }
  const removed = /^\s*([^=\s]+)-\s*$/.exec(typed)
  return removed ? { [removed[1] ?? '']: null } : undefined
}
