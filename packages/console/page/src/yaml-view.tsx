import { useState } from 'preact/hooks'
import type { Manager, ObjectView } from '../../src/wire/object-view.ts'
import { ageOf, useNow } from './age.ts'
import { text } from './text.ts'

/** The YAML of an object, with the manager that owns each line. */
export function YamlView(props: {
  readonly object: ObjectView
  readonly reveal: boolean
  readonly onReveal: (reveal: boolean) => void
}) {
  const { object, reveal } = props
  const now = useNow()
  const [chosen, setChosen] = useState<string>()
  const names = object.managers.map(nameOf)
  const isSecret = object.masked || (reveal && object.kind === 'Secret')
  return (
    <div class="yaml-view">
      <div class="managers" role="group" aria-label={text('managers')} title={text('managersHint')}>
        {object.managers.map((manager, index) => (
          <button
            key={names[index]}
            type="button"
            class={`manager colour-${index % 8}`}
            aria-pressed={chosen === names[index]}
            onClick={() => setChosen(chosen === names[index] ? undefined : names[index])}
          >
            {names[index]} <small>{ageOf(manager.time, now)}</small>
          </button>
        ))}
        {isSecret && (
          <>
            <span class="grow" />
            {object.masked && <span class="quiet">{text('masked')}</span>}
            <button type="button" onClick={() => props.onReveal(!reveal)}>
              {text(reveal ? 'hide' : 'reveal')}
            </button>
          </>
        )}
      </div>
      <pre class="yaml">
        {object.lines.map(({ text: line, owners }, index) => {
          const isDimmed = chosen !== undefined && !owners.some((owner) => names[owner] === chosen)
          const title = owners.map((owner) => names[owner]).join(', ')
          const [owner] = owners
          const colour = owner === undefined ? 'unowned' : `colour-${owner % 8}`
          return (
            <div key={index} class={isDimmed ? `line ${colour} dimmed` : `line ${colour}`} title={title}>
              {line}
              {'\n'}
            </div>
          )
        })}
      </pre>
    </div>
  )
}

function nameOf({ name, operation, subresource }: Manager): string {
  return `${name} ${operation}${subresource === undefined ? '' : ` ${subresource}`}`
}
