import { useState } from 'preact/hooks'
import type { KindInfo } from '../../src/wire/names.ts'
import { type Route, routeHash, tableRoute } from './route.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'

/** The kinds of the cluster by group, custom ones first. */
export function Sidebar(props: {
  readonly route: Route
  readonly problem: string | undefined
  readonly hasStory: boolean
}) {
  const { route, problem, hasStory } = props
  const { kinds } = useShared()
  const [filter, setFilter] = useState('')
  const wanted = filter.toLowerCase()
  const shown = kinds.filter((kind) => matches(kind, wanted))
  const groups = Map.groupBy(shown, ({ group }) => group)
  const resource =
    route.view === 'table' || route.view === 'new'
      ? route.resource
      : route.view === 'object'
        ? route.object.resource
        : undefined
  return (
    <nav class="sidebar" aria-label={text('kinds')}>
      {hasStory && (
        <a class="item strong" href="#/story" aria-current={route.view === 'story' ? 'page' : undefined}>
          {text('story')}
        </a>
      )}
      <a class="item strong" href="#/operators" aria-current={route.view === 'operators' ? 'page' : undefined}>
        {text('operators')}
      </a>
      <a class="item strong" href="#/changes" aria-current={route.view === 'changes' ? 'page' : undefined}>
        {text('changes')}
      </a>
      <input
        type="search"
        aria-label={text('filterKinds')}
        placeholder={text('filterKinds')}
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      {problem && <p class="problem">{problem}</p>}
      {[...groups].map(([group, members]) => (
        <section key={group} class={members[0]?.custom ? 'custom' : undefined}>
          <h2>{group === '' ? text('coreGroup') : group}</h2>
          {members.map((kind) => {
            const isCurrent = resource?.group === kind.group && resource.plural === kind.plural
            return (
              <a
                key={kind.plural}
                class="item"
                title={kind.kind}
                href={routeHash(tableRoute(kind))}
                aria-current={isCurrent ? 'page' : undefined}
              >
                {kind.kind}
              </a>
            )
          })}
        </section>
      ))}
    </nav>
  )
}

/** Whether a kind matches what the user typed. */
export function matches({ kind, plural, group, shortNames }: KindInfo, wanted: string): boolean {
  return [kind.toLowerCase(), plural, group, ...shortNames].some((name) => name.includes(wanted))
}
