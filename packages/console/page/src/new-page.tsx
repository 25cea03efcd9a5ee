import type { ResourceName } from '../../src/wire/names.ts'
import { FormView } from './form-view.tsx'
import { routeHash, tableRoute } from './route.ts'
import { findKind, useShared } from './settings.ts'
import { text } from './text.ts'

/** Creates an object in a form. */
export function NewPage({ resource }: { readonly resource: ResourceName }) {
  const { kinds, readOnly } = useShared()
  const kind = findKind(kinds, resource)
  return (
    <>
      <div class="toolbar">
        <h1>
          <a href={routeHash(tableRoute(resource))}>{kind?.kind ?? resource.plural}</a>
          <span class="quiet"> / </span>
          {text('create')}
        </h1>
      </div>
      <div class="panel">{kind && !readOnly && <FormView kind={kind} />}</div>
    </>
  )
}
