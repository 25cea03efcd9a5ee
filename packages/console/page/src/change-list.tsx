import { useMemo } from 'preact/hooks'
import type { ChangeView } from '../../src/wire/change-view.ts'
import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { clockTime } from './age.ts'
import { causeText } from './cause-text.ts'
import { objectText, tones, verbs } from './change-text.ts'
import { objectRoute, routeHash } from './route.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'

/** Changes with their fields, writers and reasons, newest first. The time of each leads to its moment. */
export function ChangeList(props: {
  readonly changes: readonly ChangeView[]
  readonly reconciles: readonly ReconcileView[]
  /** Whether the changes are those of one object, which needs no column. */
  readonly isHistory: boolean
  /** The moments to compare, and how to choose them. */
  readonly compared?: { readonly from: number; readonly to: number; choose(side: 'from' | 'to', moment: number): void }
}) {
  const { setAt } = useShared()
  const { changes, compared, isHistory, reconciles } = props
  const findReason = useMemo(() => reasons(reconciles), [reconciles])
  if (changes.length === 0) return <p class="quiet">{text('noChangesYet')}</p>
  return (
    <table class="plain-table changes">
      <thead>
        <tr>
          {compared && <th>{text('compare')}</th>}
          <th>{text('time')}</th>
          <th>{text('change')}</th>
          {!isHistory && <th>{text('key')}</th>}
          <th>{text('writer')}</th>
          <th>{text('fields')}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.number}>
            {compared && (
              <td class="nowrap">
                {(['from', 'to'] as const).map((side) => (
                  <input
                    key={side}
                    type="radio"
                    name={side}
                    aria-label={text(side === 'from' ? 'compareFrom' : 'compareTo', change.number)}
                    checked={compared[side] === change.number}
                    onChange={() => compared.choose(side, change.number)}
                  />
                ))}
              </td>
            )}
            <td class="nowrap">
              <button type="button" class="link code" title={change.time} onClick={() => setAt(change.number)}>
                {change.number === 0 ? text('recordingStart') : clockTime(change.time)}
              </button>
            </td>
            <td class={`nowrap ${tones[change.type]}`}>{text(verbs[change.type])}</td>
            {!isHistory && (
              <td class="object">
                <small>{change.kind}</small>
                <br />
                <a href={routeHash(objectRoute(change.object, 'history'))}>{objectText(change)}</a>
              </td>
            )}
            <td>{change.managers.join(', ')}</td>
            <td>
              {change.fields.map(({ path, before, after }) => (
                <div key={path} class="code field">
                  {path} {before !== undefined && <del>{before}</del>} {after !== undefined && <ins>{after}</ins>}
                </div>
              ))}
              {change.moreFields > 0 && <small>{text('andMore', change.moreFields)}</small>}
              <Reason reconcile={findReason(change)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Reason({ reconcile }: { readonly reconcile: ReconcileView | undefined }) {
  if (reconcile === undefined) return null
  return (
    <small>
      {text('reason')}:{' '}
      <a href="#/operators">
        {reconcile.controller} {reconcile.key}
      </a>
      {reconcile.causes.map((cause, index) => (
        <div key={index}>{causeText(cause)}</div>
      ))}
    </small>
  )
}

// A change is seen a little after it was written.
const lagMillis = 100

/** Finds the reconcile of an object or of its owner that ran when a change was seen. */
function reasons(reconciles: readonly ReconcileView[]): (change: ChangeView) => ReconcileView | undefined {
  const byKey = Map.groupBy(
    reconciles.map((reconcile) => ({ reconcile, start: Date.parse(reconcile.startedAt) })),
    ({ reconcile }) => reconcile.key,
  )
  return ({ time, keys }) => {
    const seen = Date.parse(time)
    return keys
      .flatMap((key) => byKey.get(key) ?? [])
      .find(({ reconcile, start }) => start <= seen && seen <= start + reconcile.durationMillis + lagMillis)?.reconcile
  }
}
