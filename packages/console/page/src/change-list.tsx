import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ChangeView } from '../../src/wire/change-view.ts'
import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { clockTime } from './age.ts'
import { causeText } from './cause-text.ts'
import { objectText, tones, verbs } from './change-text.ts'
import { memo } from './memo.ts'
import { objectRoute, routeHash } from './route.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'

// Rows beyond these are drawn when the user scrolls to them: hundreds of changes per second would draw all of them anew.
const firstRows = 30
const moreRows = 60

type Compared = { readonly from: number; readonly to: number; choose(side: 'from' | 'to', moment: number): void }

/** Changes with their fields, writers and reasons, newest first. The time of each leads to its moment. */
export function ChangeList(props: {
  readonly changes: readonly ChangeView[]
  readonly reconciles: readonly ReconcileView[]
  /** Whether the changes are those of one object, which needs no column. */
  readonly isHistory: boolean
  /** The moments to compare, and how to choose them. */
  readonly compared?: Compared | undefined
}) {
  const { setAt } = useShared()
  const { changes, compared, isHistory, reconciles } = props
  const findReason = useMemo(() => reasons(reconciles), [reconciles])
  const [count, setCount] = useState(firstRows)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (end.current === null) return undefined
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && setCount((drawn) => drawn + moreRows),
      { rootMargin: '400px' },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [count < changes.length])
  if (changes.length === 0) return <p class="empty">{text('noChangesYet')}</p>
  return (
    <>
      <table class="plain-table changes">
        <thead>
          <tr>
            {compared && <th class="compare-column">{text('compare')}</th>}
            <th class="time-column">{text('time')}</th>
            <th class="verb-column">{text('change')}</th>
            {!isHistory && <th class="object-column">{text('key')}</th>}
            <th class="writer-column">{text('writer')}</th>
            <th>{text('fields')}</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, count).map((change) => {
            const reason = findReason(change)
            return (
              <ChangeRow
                key={change.number}
                change={change}
                isHistory={isHistory}
                reason={reason}
                reasonId={reason?.id}
                isFrom={compared?.from === change.number}
                isTo={compared?.to === change.number}
                onCompare={compared && ((side) => compared.choose(side, change.number))}
                onShow={() => setAt(change.number)}
              />
            )
          })}
        </tbody>
      </table>
      {count < changes.length && <div ref={end} />}
    </>
  )
}

const ChangeRow = memo(
  function ChangeRow(props: {
    readonly change: ChangeView
    readonly isHistory: boolean
    /** Reports are parsed again and again, so that only the identifier shows whether it is another reconcile. */
    readonly reason: ReconcileView | undefined
    readonly reasonId: string | undefined
    readonly isFrom: boolean
    readonly isTo: boolean
    readonly onCompare: ((side: 'from' | 'to') => void) | undefined
    readonly onShow: () => void
  }) {
    const { change, onCompare } = props
    return (
      <tr>
        {onCompare && (
          <td class="nowrap">
            {(['from', 'to'] as const).map((side) => (
              <input
                key={side}
                type="radio"
                name={side}
                aria-label={text(side === 'from' ? 'compareFrom' : 'compareTo', change.number)}
                checked={side === 'from' ? props.isFrom : props.isTo}
                onChange={() => onCompare(side)}
              />
            ))}
          </td>
        )}
        <td class="nowrap">
          <button type="button" class="link code" title={change.time} onClick={props.onShow}>
            {change.number === 0 ? text('recordingStart') : clockTime(change.time)}
          </button>
        </td>
        <td class={tones[change.type]}>{text(verbs[change.type])}</td>
        {!props.isHistory && (
          <td>
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
          <Reason reconcile={props.reason} />
        </td>
      </tr>
    )
  },
  ['reason'],
)

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
