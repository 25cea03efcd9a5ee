import { useEffect, useState } from 'preact/hooks'

/** A selector that the server evaluates. It takes effect with Enter or when the field is left. */
export function SelectorInput(props: {
  readonly label: string
  readonly example: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const [typed, setTyped] = useState(props.value)
  useEffect(() => setTyped(props.value), [props.value])
  const commit = (): void => {
    if (typed.trim() !== props.value) props.onChange(typed.trim())
  }
  return (
    <input
      type="search"
      class="selector"
      aria-label={props.label}
      title={props.example}
      placeholder={props.label}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
      onBlur={commit}
    />
  )
}
