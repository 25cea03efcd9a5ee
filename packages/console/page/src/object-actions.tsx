import { useState } from 'preact/hooks'
import type { Action } from '../../src/wire/messages.ts'
import type { KindInfo, ObjectName } from '../../src/wire/names.ts'
import type { ObjectView } from '../../src/wire/object-view.ts'
import { ActionDialog, type ActionName } from './action-dialog.tsx'
import { connection } from './connection.ts'
import { usePull } from './lever-banner.tsx'
import { useShared } from './settings.ts'
import { text } from './text.ts'

const restartable = new Set(['deployments', 'statefulsets', 'daemonsets'])

/** The buttons that change an object. */
export function ObjectActions(props: {
  readonly name: ObjectName
  readonly object: ObjectView
  readonly kind: KindInfo | undefined
}) {
  const { name, object, kind } = props
  const { notify } = useShared()
  const pull = usePull()
  const [open, setOpen] = useState<ActionName>()
  const perform = async (action: Action): Promise<void> => {
    const { error } = await connection.request(action)
    if (error === undefined) setOpen(undefined)
    notify(error ?? text('done'), error !== undefined)
  }
  const { group, plural } = name.resource
  const actions: ActionName[] = []
  if (kind?.subresources.includes('scale') && object.replicas !== undefined) actions.push('scale')
  if (group === 'apps' && restartable.has(plural)) actions.push('restart')
  if (group === '' && plural === 'pods') actions.push('evict')
  if (group === '' && plural === 'nodes') actions.push(object.unschedulable ? 'uncordon' : 'cordon', 'drain')
  if (kind?.verbs.includes('patch')) actions.push('label')
  if (kind?.verbs.includes('delete')) actions.push('delete')
  const isFrozen = object.annotations['kubewright.dev/ready'] === 'false'
  const levers = group === '' && plural === 'pods' && connection.hello?.levers.pods
  const trouble = levers ? (['crash', isFrozen ? 'unfreeze' : 'freeze'] as const) : []
  return (
    <>
      {trouble.map((type) => (
        <button key={type} type="button" onClick={() => void pull({ type, object: name })}>
          {text(type)}
        </button>
      ))}
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          class={action === 'delete' ? 'danger' : undefined}
          onClick={() => setOpen(action)}
        >
          {text(action)}
        </button>
      ))}
      {open && (
        <ActionDialog
          action={open}
          name={name}
          object={object}
          onPerform={perform}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}
