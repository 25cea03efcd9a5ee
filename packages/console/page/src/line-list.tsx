import type { LineView } from '../../src/wire/operator-view.ts'
import { text } from './text.ts'
import { wordTone } from './tone.ts'

/** The log lines of one reconcile, folded. */
export function LineList({ lines }: { readonly lines: readonly LineView[] }) {
  return (
    <details>
      <summary>
        <small>{text('logLines', lines.length)}</small>
      </summary>
      <ol class="requests">
        {lines.map(({ time, level, message, values, error }, index) => (
          <li key={index}>
            <span class="code quiet">{time.slice(11, 23)}</span>{' '}
            <span class={wordTone(level === 'warning' ? 'pending' : level)}>{level}</span> {message}{' '}
            <span class="code quiet">{values}</span>
            {error && <div class="problem">{error}</div>}
          </li>
        ))}
      </ol>
    </details>
  )
}
