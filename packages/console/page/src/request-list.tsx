import type { RequestView } from '../../src/wire/operator-view.ts'
import { text } from './text.ts'

/** The requests of one reconcile, folded. */
export function RequestList({ requests }: { readonly requests: readonly RequestView[] }) {
  const writes = requests.filter(({ method }) => method !== 'GET').length
  return (
    <details>
      <summary>
        <small>{text('requests', requests.length, writes)}</small>
      </summary>
      <ol class="requests">
        {requests.map(({ method, path, startedAt, durationMillis, error }, index) => (
          <li key={index} title={startedAt} class={error === undefined ? undefined : 'bad'}>
            <span class="code">
              <strong>{method}</strong> {path}
            </span>{' '}
            <small>{durationMillis.toFixed(1)} ms</small>
            {error && <div class="problem">{error}</div>}
          </li>
        ))}
      </ol>
    </details>
  )
}
