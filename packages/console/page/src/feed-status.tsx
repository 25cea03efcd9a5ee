import type { FeedState } from '../../src/wire/messages.ts'
import { text } from './text.ts'

/** Shows where a list stands: loading, or why it is not current. A live list needs no words. */
export function FeedStatus({ state, problem }: { readonly state: FeedState; readonly problem?: string | undefined }) {
  if (state === 'live') return null
  return (
    <span class={state === 'retrying' ? 'problem' : 'quiet'} role="status">
      {state === 'retrying' ? text('retrying', problem ?? '') : text('loading')}
    </span>
  )
}
