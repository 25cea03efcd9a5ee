import { useState } from 'preact/hooks'
import type { OperatorView } from '../../src/wire/operator-view.ts'
import { shortDuration } from './age.ts'
import { CallList } from './call-list.tsx'
import { ControllerTable } from './controller-table.tsx'
import { DurationChart } from './duration-chart.tsx'
import { findTroubles } from './find-troubles.ts'
import { ReconcileList } from './reconcile-list.tsx'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { useTopic } from './use-topic.ts'

/** The operators beside the console: controllers, queues, and why each reconcile ran. */
export function OperatorPage() {
  const update = useTopic({ type: 'operators' })
  const operators = update?.operators
  return (
    <div class="operators">
      {operators === undefined && <p class="empty">{text('loading')}</p>}
      {operators?.length === 0 && <p class="empty">{text('noOperators')}</p>}
      {operators?.map((operator) => (
        <OperatorSection key={operator.name} operator={operator} />
      ))}
    </div>
  )
}

function OperatorSection({ operator }: { readonly operator: OperatorView }) {
  const { timeAt } = useShared()
  const [controller, setController] = useState<string>()
  // Reports state only the present of queues and caches, but the times of past reconciles.
  const past = operator.reconciles.filter(({ startedAt }) => timeAt === undefined || Date.parse(startedAt) <= timeAt)
  const troubles = findTroubles(past)
  const shown = past.filter((record) => controller === undefined || record.controller === controller)
  return (
    <section>
      <h1>{operator.name}</h1>
      {operator.problem && <p class="problem">{operator.problem}</p>}
      {operator.missingAccess.length > 0 && (
        <p class="problem">
          {text('missingAccess')}: {operator.missingAccess.join(', ')}
        </p>
      )}
      {troubles.map(({ type, key, count, millis, field, of, writers }) => (
        <p key={key} class="notice">
          {text(
            type === 'fight' ? 'fightOf' : 'loopOf',
            key,
            count,
            shortDuration(millis),
            `${field} (${of})`,
            writers.join(', ') || text('unknownWriter'),
          )}
        </p>
      ))}
      <h2>{text('controllers')}</h2>
      <ControllerTable
        operator={operator.index}
        controllers={operator.controllers}
        selected={controller}
        onSelect={setController}
      />
      {operator.caches.length > 0 && (
        <>
          <h2>{text('caches')}</h2>
          <p>
            {operator.caches.map(({ kind, objects }) => (
              <span key={kind} class="chip">
                {kind} <strong>{objects ?? '–'}</strong>
              </span>
            ))}
          </p>
        </>
      )}
      <DurationChart reconciles={past} />
      <h2>{text('reconciles')}</h2>
      <ReconcileList reconciles={shown} />
      {operator.calls.length > 0 && (
        <>
          <h2>{text('webhookCalls')}</h2>
          <CallList calls={operator.calls} />
        </>
      )}
    </section>
  )
}
