import type { AnyKind, KubeObject } from '@kubewright/api'
import { type FormMetadata, isBuiltin, metadataOf, metadataVariantsOf } from './metadata-variants.ts'
import { collectionPath } from './samples.ts'
import { variantsOf } from './variants.ts'

/** An object that the author gave beside the samples. The user of a schedule changes and deletes it. */
export interface InputObject {
  readonly id: string
  readonly kind: string
  /** The path of its collection. */
  readonly collection: string
  readonly name: string
  readonly body: KubeObject
  /** The object with other values; empty if no value can change safely. */
  readonly changes: readonly InputChange[]
  /** Whether the user may delete the object: a namespace would take the samples with it. */
  readonly canGo: boolean
}

/** A changed form of an input, and what differs. */
interface InputChange {
  readonly body: KubeObject
  readonly text: string
}

/** The forms of an input, as the variants of an operation. Higher numbers are further changes. */
export const inputForms = { original: 0, changed: 1, deleted: 2 } as const

/** The form of an input with one of its changes. */
export const changeForm = (index: number): number => (index === 0 ? inputForms.changed : inputForms.deleted + index)

/** A form of an input; undefined if it has no such form. */
export function inputForm({ body, changes }: InputObject, form: number): InputChange | undefined {
  if (form === inputForms.original) return { body, text: '' }
  return form === inputForms.deleted ? undefined : changes[form === inputForms.changed ? 0 : form - inputForms.deleted]
}

/** The key of an input in the user's list of desired objects. Subjects have lower keys, neighbors negative ones. */
export const inputKey = (index: number): number => firstKey + index
/** The index of the input that a key stands for; undefined for other keys. */
export const inputOf = (key: number): number | undefined => (key >= firstKey ? key - firstKey : undefined)
const firstKey = 1_000_000

const plurals: Readonly<Record<string, string>> = { ConfigMap: 'configmaps', Secret: 'secrets' }
const maxChanges = 6

interface InputFacts {
  /** The kinds whose objects of other owners the operator follows. */
  readonly kinds: readonly AnyKind[]
  /** The label selectors of the operator. */
  readonly selectors: readonly string[]
  /** The names of all given objects. */
  readonly names: ReadonlySet<string>
}

/**
 * The inputs among the objects that an author gave: ConfigMaps and Secrets, unless they are immutable, and objects of other kinds that the
 * operator follows.
 */
export function inputObjectsOf(given: readonly KubeObject[], facts: InputFacts): InputObject[] {
  return given.flatMap((object): InputObject[] => {
    const { name, namespace = 'default' } = object.metadata
    const plural = plurals[object.kind]
    const base = { kind: object.kind, name, body: object }
    const id = `${object.kind} ${namespace}/${name}`
    if (plural !== undefined && object.apiVersion === 'v1') {
      if ((object as Data).immutable === true) return []
      const collection = `/api/v1/namespaces/${namespace}/${plural}`
      return [{ ...base, id, collection, changes: changedData(object), canGo: true }]
    }
    const kind = facts.kinds.find((one) => one.kind === object.kind && one.apiVersion === object.apiVersion)
    if (kind === undefined) return []
    const collection = collectionPath(kind, namespace)
    const changes = changedFields(kind, object, facts)
    if (kind.scope === 'Namespaced') return [{ ...base, id, collection, changes, canGo: true }]
    return [{ ...base, id: `${object.kind} ${name}`, collection, changes, canGo: !isBuiltin(kind) }]
  })
}

/** Changes the fields of a custom resource, or the labels and annotations of another object. The server decides which changes are valid. */
function changedFields(kind: AnyKind, object: KubeObject, { names, selectors }: InputFacts): InputChange[] {
  const { apiVersion: _, kind: __, metadata, status: ___, ...body } = object as KubeObject & { status?: unknown }
  const forms = isBuiltin(kind)
    ? metadataVariantsOf(body, metadata as FormMetadata, selectors)
    : variantsOf(kind.schema, body, names).filter(({ isHeld = false, isGrowth = false }) => !isHeld && !isGrowth)
  return forms.slice(0, maxChanges).map(({ text, body: { metadata: form, ...fields } }) => ({
    text,
    body: { ...object, ...fields, metadata: metadataOf(metadata, metadata as FormMetadata, form as FormMetadata) },
  }))
}

interface Data extends KubeObject {
  readonly data?: Readonly<Record<string, string>> | undefined
  readonly stringData?: Readonly<Record<string, string>> | undefined
  readonly immutable?: boolean | undefined
}

/** Changes all values that are one word: another word is as valid. The parts of a configuration file are not. */
function changedData(object: Data): InputChange[] {
  let text: string | undefined
  const changedValues = (values: Data['data'], isEncoded: boolean): Data['data'] =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        const plain = isEncoded ? Buffer.from(value, 'base64').toString() : value
        if (!word.test(plain) || switches.test(plain)) return [key, value]
        text ??= `data.${key} = ${JSON.stringify(`${plain}2`)}`
        return [key, isEncoded ? Buffer.from(`${plain}2`).toString('base64') : `${plain}2`]
      }),
    )
  const data = changedValues(object.data, object.kind === 'Secret')
  const stringData = changedValues(object.stringData, false)
  if (text === undefined) return []
  return [{ body: { ...object, ...(data && { data }), ...(stringData && { stringData }) }, text }]
}

const word = /^[A-Za-z][\w.@!#$%&*+-]*$/
const switches = /^(true|false|yes|no|on|off|enabled|disabled|debug|info|warn|error)$/i
