import type { KubeObject } from '@kubewright/api'

/** A ConfigMap or Secret that the author gave beside the samples. The user of a schedule changes and deletes it. */
export interface InputObject {
  readonly id: string
  readonly kind: string
  /** The path of its collection. */
  readonly collection: string
  readonly name: string
  readonly body: KubeObject
  /** The object with other values, and the first of them; undefined if no value can change safely. */
  readonly changed: { readonly body: KubeObject; readonly text: string } | undefined
}

/** The forms of an input, as the variants of an operation. */
export const inputForms = { original: 0, changed: 1, deleted: 2 } as const

/** The key of an input in the user's list of desired objects. Subjects have lower keys, neighbors negative ones. */
export const inputKey = (index: number): number => firstKey + index
/** The index of the input that a key stands for; undefined for other keys. */
export const inputOf = (key: number): number | undefined => (key >= firstKey ? key - firstKey : undefined)
const firstKey = 1_000_000

const plurals: Readonly<Record<string, string>> = { ConfigMap: 'configmaps', Secret: 'secrets' }

/** The inputs among the objects that an author gave. Immutable ones stay. */
export function inputObjectsOf(given: readonly KubeObject[]): InputObject[] {
  return given.flatMap((object) => {
    const plural = plurals[object.kind]
    if (plural === undefined || object.apiVersion !== 'v1' || (object as Data).immutable === true) return []
    const { name, namespace = 'default' } = object.metadata
    const collection = `/api/v1/namespaces/${namespace}/${plural}`
    const id = `${object.kind} ${namespace}/${name}`
    return [{ id, kind: object.kind, collection, name, body: object, changed: changedData(object) }]
  })
}

interface Data extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

/** Changes all values that are one word: another word is as valid. The parts of a configuration file are not. */
function changedData(object: Data): InputObject['changed'] {
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
  if (text === undefined) return undefined
  return { body: { ...object, ...(data && { data }), ...(stringData && { stringData }) }, text }
}

const word = /^[A-Za-z][\w.@!#$%&*+-]*$/
const switches = /^(true|false|yes|no|on|off|enabled|disabled|debug|info|warn|error)$/i
