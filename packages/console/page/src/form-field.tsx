import { useEffect, useRef } from 'preact/hooks'
import type { FormSchema } from '../../src/wire/form-schema.ts'
import type { Conflict } from '../../src/wire/messages.ts'
import { emptyValue, errorsAt, errorsBelow, isRecord, withField, withItem } from './form-value.ts'
import { text } from './text.ts'

/** Properties of a field in a form. */
export interface FieldProps {
  readonly schema: FormSchema
  readonly value: unknown
  /** As the API server names the field in errors, such as `spec.rooms[0].beds`. */
  readonly path: string
  readonly label: string
  readonly errors: readonly Conflict[]
  readonly required?: boolean | undefined
  /** Undefined removes the field. */
  readonly onChange: (value: unknown) => void
}

/** A field with its description and its errors. Sections that are not set can be added, and removed again. */
export function FormField(props: FieldProps) {
  const { schema, value, path, label, errors, required = false, onChange } = props
  const own = errorsAt(errors, path)
  const element = useRef<HTMLElement | null>(null)
  const wasToggled = useRef(false)
  const toggle = (next: unknown): void => {
    wasToggled.current = true
    onChange(next)
  }
  // The pressed button is gone: the focus moves to the first control of the new section, or back to its button.
  useEffect(() => {
    if (!wasToggled.current) return
    wasToggled.current = false
    element.current?.querySelector<HTMLElement>('input, select, button:not(.link)')?.focus()
  }, [value === undefined])
  const id = `field-${path}`
  const help = (
    <>
      {schema.description && <small id={`${id}-help`}>{schema.description}</small>}
      {own.map(({ message }) => (
        <p key={message} class="problem" role="alert">
          {message}
        </p>
      ))}
    </>
  )
  if (schema.type !== 'object' && schema.type !== 'map' && schema.type !== 'list')
    return (
      <div class="form-field">
        <label for={id}>
          {label}
          {required && <span class="bad"> *</span>}
        </label>
        <Scalar {...props} id={id} />
        {help}
      </div>
    )
  if (value === undefined)
    return (
      <div class="form-field" ref={(div) => void (element.current = div)}>
        <button
          type="button"
          class={errorsBelow(errors, path) ? 'danger' : undefined}
          onClick={() => toggle(emptyValue(schema))}
        >
          + {label}
          {required && <span class="bad"> *</span>}
        </button>
        {help}
      </div>
    )
  return (
    <fieldset ref={(set) => void (element.current = set)}>
      <legend>
        {label}{' '}
        {!required && (
          <button type="button" class="link" aria-label={`${text('remove')} ${path}`} onClick={() => toggle(undefined)}>
            {text('remove')}
          </button>
        )}
      </legend>
      {help}
      <Members {...props} />
    </fieldset>
  )
}

/** The fields of an object, the entries of a map, or the items of a list. */
function Members({ schema, value, path, errors, onChange }: FieldProps) {
  if (schema.type === 'object')
    return (
      <>
        {Object.entries(schema.properties ?? {}).map(([name, property]) => (
          <FormField
            key={name}
            schema={property}
            label={name}
            path={path === '' ? name : `${path}.${name}`}
            value={isRecord(value) ? value[name] : undefined}
            errors={errors}
            required={schema.required?.includes(name) ?? false}
            onChange={(changed) => onChange(withField(value, name, changed))}
          />
        ))}
      </>
    )
  const items = schema.items ?? { type: 'other' }
  if (schema.type === 'list') {
    const list = Array.isArray(value) ? (value as readonly unknown[]) : []
    return (
      <>
        {list.map((item, index) => (
          <div key={index} class="form-item">
            <FormField
              schema={items}
              label={`${index + 1}`}
              path={`${path}[${index}]`}
              value={item ?? emptyValue(items)}
              errors={errors}
              onChange={(changed) => onChange(withItem(list, index, changed))}
            />
          </div>
        ))}
        <button type="button" onClick={() => onChange([...list, emptyValue(items)])}>
          + {text('addItem')}
        </button>
      </>
    )
  }
  const entries = isRecord(value) ? Object.entries(value) : []
  const addKey = (input: HTMLInputElement): void => {
    const key = input.value.trim()
    input.value = ''
    if (key !== '') onChange(withField(value, key, emptyValue(items)))
  }
  return (
    <>
      {entries.map(([key, item]) => (
        <FormField
          key={key}
          schema={items}
          label={key}
          path={`${path}[${key}]`}
          value={item}
          errors={errors}
          onChange={(changed) => onChange(withField(value, key, changed))}
        />
      ))}
      <input
        aria-label={`${text('addKey')} ${path}`}
        placeholder={text('addKey')}
        onChange={({ currentTarget }) => addKey(currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          // Enter would save the whole form.
          event.preventDefault()
          addKey(event.currentTarget)
        }}
      />
    </>
  )
}

/** The control of a field without members. */
function Scalar({ schema, value, id, required, onChange }: FieldProps & { readonly id: string }) {
  const { type, choices, minimum, maximum } = schema
  const shared = { id, 'aria-describedby': schema.description ? `${id}-help` : undefined, placeholder: schema.default }
  const shown = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  if (choices !== undefined || type === 'boolean')
    return (
      <select
        {...shared}
        value={shown}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value
          onChange(chosen === '' ? undefined : type === 'boolean' ? chosen === 'true' : chosen)
        }}
      >
        <option value="">{schema.default === undefined ? '–' : `– ${schema.default}`}</option>
        {(choices ?? ['true', 'false']).map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    )
  if (type === 'text')
    return (
      <input
        {...shared}
        value={shown}
        onInput={({ currentTarget }) =>
          onChange(currentTarget.value === '' && !required ? undefined : currentTarget.value)
        }
      />
    )
  if (type === 'integer' || type === 'number')
    return (
      <input
        {...shared}
        type="number"
        step={type === 'integer' ? 1 : 'any'}
        min={minimum}
        max={maximum}
        value={shown}
        onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : Number(currentTarget.value))}
      />
    )
  return (
    <input
      {...shared}
      class="code"
      value={shown}
      onChange={({ currentTarget }) => onChange(parsed(currentTarget.value))}
    />
  )
}

/** A typed value of unknown type: JSON if it is JSON, otherwise the text. */
function parsed(typed: string): unknown {
  if (typed.trim() === '') return undefined
  try {
    return JSON.parse(typed) as unknown
  } catch {
    return typed
  }
}
