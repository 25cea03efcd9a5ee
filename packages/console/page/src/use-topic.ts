import { useEffect, useState } from 'preact/hooks'
import type { Topic, Update } from '../../src/wire/messages.ts'
import { connection, type LinkState } from './connection.ts'

type UpdateOf<T extends Topic['type']> = Extract<Update, { type: T }>

/** The last update of a topic; undefined until the first one. Without a topic nothing is followed. */
export function useTopic<T extends Topic['type']>(
  topic: Extract<Topic, { type: T }> | undefined,
): UpdateOf<T> | undefined {
  const [last, setLast] = useState<{ key: string; update: UpdateOf<T> }>()
  const key = topic === undefined ? '' : JSON.stringify(topic)
  useEffect(() => {
    if (topic === undefined) return undefined
    return connection.follow(topic, (update) => setLast({ key, update: update as UpdateOf<T> }))
  }, [key])
  return last?.key === key ? last.update : undefined
}

/** The state of the link to the server. */
export function useLink(): LinkState {
  const [state, setState] = useState(connection.state)
  useEffect(() => connection.listen(() => setState(connection.state)), [])
  return state
}
