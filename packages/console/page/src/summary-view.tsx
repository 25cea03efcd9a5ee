import type { ConditionView, ObjectView } from '../../src/wire/object-view.ts'
import { ageOf, useNow } from './age.ts'
import { objectRoute, routeHash } from './route.ts'
import { text } from './text.ts'
import { wordTone } from './tone.ts'

/** The most important facts of an object. */
export function SummaryView({ object }: { readonly object: ObjectView }) {
  const now = useNow()
  return (
    <div class="summary">
      {object.deleting && <p class="notice">{text('deleting', ageOf(object.deleting, now))}</p>}
      <dl class="facts">
        <dt>{text('created')}</dt>
        <dd>
          {object.created} ({ageOf(object.created, now)})
        </dd>
        <dt>{text('uid')}</dt>
        <dd class="code">{object.uid}</dd>
        {object.replicas !== undefined && (
          <>
            <dt>{text('replicas')}</dt>
            <dd>{object.replicas}</dd>
          </>
        )}
        {object.owners.length > 0 && (
          <>
            <dt>{text('owners')}</dt>
            <dd>
              {object.owners.map(({ kind, name, object: owner }) => (
                <span key={`${kind}/${name}`} class="chip">
                  {owner ? <a href={routeHash(objectRoute(owner))}>{`${kind}/${name}`}</a> : `${kind}/${name}`}
                </span>
              ))}
            </dd>
          </>
        )}
        {object.finalizers.length > 0 && (
          <>
            <dt>{text('finalizers')}</dt>
            <dd>{object.finalizers.join(', ')}</dd>
          </>
        )}
        <Texts name={text('labels')} values={object.labels} />
        <Texts name={text('annotations')} values={object.annotations} />
      </dl>
      <h2>{text('conditions')}</h2>
      {object.conditions.length === 0 && <p class="quiet">{text('noConditions')}</p>}
      <ol class="timeline">
        {object.conditions.map((condition) => (
          <Condition key={condition.type} condition={condition} now={now} />
        ))}
      </ol>
    </div>
  )
}

/** A condition whose type names a problem, such as MemoryPressure, is good when it is False. */
const negative = /(Pressure|Unavailable|Failed|Failure|Degraded|Disrupt|Stalled|Deleting)/

function Condition({ condition, now }: { readonly condition: ConditionView; readonly now: number }) {
  const { type, status, reason, message, since } = condition
  const flipped = status === 'True' ? 'False' : 'True'
  const tone = wordTone(negative.test(type) && status !== 'Unknown' ? flipped : status)
  return (
    <li class={tone}>
      <strong>{type}</strong> <span class={tone}>{status}</span>
      <span class="quiet"> {reason}</span>
      <time class="quiet" dateTime={since} title={since}>
        {since === '' ? '' : ` ${text('since', ageOf(since, now))}`}
      </time>
      {message !== '' && <p>{message}</p>}
    </li>
  )
}

function Texts({ name, values }: { readonly name: string; readonly values: Readonly<Record<string, string>> }) {
  const entries = Object.entries(values)
  if (entries.length === 0) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {entries.map(([key, value]) => (
          <span key={key} class="chip" title={value}>
            {key}={value}
          </span>
        ))}
      </dd>
    </>
  )
}
