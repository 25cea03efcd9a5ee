import type { CallView } from '../../src/wire/operator-view.ts'
import { clockTime } from './age.ts'
import { text } from './text.ts'

/** The last calls of an operator's webhooks, newest first. */
export function CallList({ calls }: { readonly calls: readonly CallView[] }) {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th>{text('time')}</th>
          <th>{text('webhook')}</th>
          <th>{text('duration')}</th>
          <th>{text('result')}</th>
        </tr>
      </thead>
      <tbody>
        {calls.map(({ path, startedAt, durationMillis, allowed, message, error }, index) => (
          <tr key={`${startedAt} ${index}`}>
            <td class="code">{clockTime(startedAt)}</td>
            <td class="code">{path}</td>
            <td class="number">{durationMillis.toFixed(1)} ms</td>
            <td class={error !== undefined || allowed === false ? 'bad' : 'good'}>
              {allowed === undefined ? '' : text(allowed ? 'allowed' : 'denied')} {error ?? message}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
