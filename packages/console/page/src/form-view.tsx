import { useEffect, useRef, useState } from 'preact/hooks'
import type { FormSchema } from '../../src/wire/form-schema.ts'
import type { PageResponse } from '../../src/wire/messages.ts'
import type { KindInfo, ObjectName } from '../../src/wire/names.ts'
import { connection } from './connection.ts'
import { DiffView } from './diff-view.tsx'
import { FormField } from './form-field.tsx'
import { isRecord, withField } from './form-value.ts'
import { go, objectRoute } from './route.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'

const pauseMillis = 400

/** Edits an object, or creates one, in a form that the server checks while the user types. */
export function FormView({ kind, name }: { readonly kind: KindInfo; readonly name?: ObjectName | undefined }) {
  const { notify, namespace } = useShared()
  const { group, version, plural } = kind
  const resource = { group, version, plural }
  const [schema, setSchema] = useState<FormSchema>()
  const [source, setSource] = useState<string>()
  const [draft, setDraft] = useState<unknown>()
  const [answer, setAnswer] = useState<PageResponse>()
  // A new object lacks required fields until the user has typed something: that is no error yet.
  const [isTouched, setTouched] = useState(name !== undefined)
  const change = (next: unknown): void => {
    setTouched(true)
    setDraft(next)
  }
  const latest = useRef(0)
  const load = async (): Promise<void> => {
    const response =
      name === undefined ? newObject(kind, namespace) : await connection.request({ type: 'source', object: name })
    setAnswer(response.error === undefined ? undefined : response)
    if (response.json === undefined) return
    setSource(response.yaml ?? '')
    setDraft(JSON.parse(response.json))
  }
  useEffect(() => {
    void connection.request({ type: 'schema', resource }).then((response) => {
      setSchema(response.schema)
      if (response.error !== undefined) setAnswer(response)
    })
    void load()
  }, [])
  const send = async (dryRun: boolean): Promise<PageResponse> => {
    const yaml = JSON.stringify(draft)
    if (name !== undefined)
      return connection.request({
        type: 'edit',
        object: name,
        source: source ?? '',
        yaml,
        mode: 'replace',
        force: false,
        dryRun,
      })
    const scope = kind.namespaced ? metadataOf(draft, 'namespace') : undefined
    return connection.request({ type: 'create', resource, namespace: scope, yaml, dryRun })
  }
  // The server checks the draft when the user pauses.
  useEffect(() => {
    if (draft === undefined || source === undefined || !isTouched) return undefined
    const own = ++latest.current
    const timer = setTimeout(() => {
      void send(true).then((response) => {
        if (own === latest.current) setAnswer(response)
      })
    }, pauseMillis)
    return () => clearTimeout(timer)
  }, [draft])
  const save = async (): Promise<void> => {
    const response = await send(false)
    setAnswer(response)
    if (response.error !== undefined) return
    notify(text('saved'))
    if (name !== undefined) return load()
    const scope = kind.namespaced ? metadataOf(draft, 'namespace') : undefined
    go(objectRoute({ resource, name: metadataOf(draft, 'name'), namespace: scope }))
    return undefined
  }
  if (schema === undefined || draft === undefined) return <p class="empty">{answer?.error ?? text('loading')}</p>
  const errors = answer?.invalid ?? []
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div>
        {name === undefined && (
          <FormField
            schema={kind.namespaced ? newMetadata : { ...newMetadata, properties: { name: { type: 'text' } } }}
            label="metadata"
            path="metadata"
            required
            value={isRecord(draft) ? draft['metadata'] : {}}
            errors={errors}
            onChange={(metadata) => change(withField(draft, 'metadata', metadata))}
          />
        )}
        {Object.entries(schema.properties ?? {}).map(([field, property]) => (
          <FormField
            key={field}
            schema={property}
            label={field}
            path={field}
            value={isRecord(draft) ? draft[field] : undefined}
            errors={errors}
            required={schema.required?.includes(field) ?? false}
            onChange={(value) => change(withField(draft, field, value))}
          />
        ))}
      </div>
      <div class="edit-side">
        <div class="buttons">
          <button type="submit" class="primary" disabled={answer === undefined || answer.error !== undefined}>
            {text(name === undefined ? 'create' : 'save')}
          </button>
        </div>
        <div role="status">{answer?.error && <p class="problem">{answer.error}</p>}</div>
        {answer?.diff && <DiffView lines={answer.diff} />}
      </div>
    </form>
  )
}

const newMetadata: FormSchema = {
  type: 'object',
  properties: { name: { type: 'text' }, namespace: { type: 'text' } },
  required: ['name', 'namespace'],
}

function newObject(kind: KindInfo, namespace: string): PageResponse {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  const metadata = { name: '', ...(kind.namespaced ? { namespace: namespace || 'default' } : {}) }
  return { yaml: '', json: JSON.stringify({ apiVersion, kind: kind.kind, metadata }) }
}

function metadataOf(draft: unknown, field: string): string {
  const metadata = isRecord(draft) ? draft['metadata'] : undefined
  const value = isRecord(metadata) ? metadata[field] : undefined
  return typeof value === 'string' ? value : ''
}
