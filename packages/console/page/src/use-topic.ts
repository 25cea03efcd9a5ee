import { useEffect, useState } from 'preact/hooks'
import type { Topic, Update } from '../../src/wire/messages.ts'
import { connection, type LinkState } from './connection.ts'
import { useShared } from './settings.ts'

type UpdateOf<T extends Topic['type']> = Extract<Update, { type: T }>

/** The last update of a topic, at the moment that the page shows; undefined until the first one. Without a topic nothing is followed. */
export function useTopic<T extends Topic['type']>(
  topic: Extract<Topic, { type: T }> | undefined,
): UpdateOf<T> | undefined {
  const { at } = useShared()
  const [last, setLast] = useState<{ subject: string; update: UpdateOf<T> }>()
  const subject = topic === undefined ? '' : JSON.stringify(topic)
  // The time line and the levers are always those of the present.
  const moment = topic?.type === 'timeline' || topic?.type === 'levers' ? undefined : at
  useEffect(() => {
    if (topic === undefined) return undefined
    return connection.follow({ ...topic, at: moment }, (update) => setLast({ subject, update: update as UpdateOf<T> }))
  }, [subject, moment])
  // The state at another moment is shown until that of the new one arrives, so that nothing flickers.
  return last?.subject === subject ? last.update : undefined
}

/** The state of the link to the server. */
export function useLink(): LinkState {
  const [state, setState] = useState(connection.state)
  useEffect(() => connection.listen(() => setState(connection.state)), [])
  return state
}
