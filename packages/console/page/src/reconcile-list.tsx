import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { causeText } from './cause-text.ts'
import { LineList } from './line-list.tsx'
import { RequestList } from './request-list.tsx'
import { text } from './text.ts'
import { wordTone } from './tone.ts'

/** The last reconciles with their causes, newest first. */
export function ReconcileList({ reconciles }: { readonly reconciles: readonly ReconcileView[] }) {
  if (reconciles.length === 0) return <p class="quiet">{text('noReconciles')}</p>
  return (
    <table class="plain-table reconciles">
      <thead>
        <tr>
          <th>{text('time')}</th>
          <th>{text('controller')}</th>
          <th>{text('key')}</th>
          <th>{text('result')}</th>
          <th>{text('duration')}</th>
          <th>{text('causes')}</th>
        </tr>
      </thead>
      <tbody>
        {reconciles.map((record) => (
          <tr key={record.id}>
            <td class="code" title={record.startedAt}>
              {record.startedAt.slice(11, 23)}
            </td>
            <td>{record.controller}</td>
            <td class="key">{record.key}</td>
            <td class={wordTone(record.result)}>{record.result}</td>
            <td class="number">{record.durationMillis.toFixed(1)} ms</td>
            <td>
              {record.causes.map((cause, index) => (
                <div key={index}>{causeText(cause)}</div>
              ))}
              {record.error && <pre class="problem">{record.error}</pre>}
              {record.stack && (
                <details>
                  <summary>
                    <small>{text('stack')}</small>
                  </summary>
                  <pre class="stack">{record.stack}</pre>
                </details>
              )}
              {record.log && <LineList lines={record.log} />}
              {record.requests && record.requests.length > 0 && <RequestList requests={record.requests} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
