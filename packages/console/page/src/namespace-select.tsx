import { text } from './text.ts'
import { useTable } from './use-table.ts'

/** Chooses one namespace, or all. */
export function NamespaceSelect(props: { readonly value: string; readonly onChange: (namespace: string) => void }) {
  const { rows } = useTable({ type: 'table', resource: { group: '', version: 'v1', plural: 'namespaces' } })
  const names = [...rows.values()].map(({ name }) => name).sort()
  // A namespace that was deleted meanwhile stays visible as the choice.
  if (props.value !== '' && !names.includes(props.value)) names.unshift(props.value)
  return (
    <select
      aria-label={text('namespace')}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    >
      <option value="">{text('allNamespaces')}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
