import { fieldNumbers } from '../generated/protobuf-fields.ts'

/** A field of a protobuf message. */
export interface NumberedField {
  readonly number: number
  /** The JSON name, or for an embedded struct the name of its message. */
  readonly name: string
  /** Whether the field is an embedded struct, whose fields JSON shows in its parent. */
  readonly embedded: boolean
}

const packages = new Map<string, ReadonlyMap<string, string>>()

/** The fields of a message such as `core/v1.Pod` by ascending number; undefined for unknown messages. */
export function numberedFields(type: string): readonly NumberedField[] | undefined {
  const dot = type.lastIndexOf('.')
  const text = messagesOf(type.slice(0, dot)).get(type.slice(dot + 1))
  if (text === undefined) return undefined
  let number = 0
  return text === ''
    ? []
    : text.split(' ').map((entry) => {
        const colon = entry.indexOf(':')
        number = colon < 0 ? number + 1 : Number(entry.slice(0, colon))
        const name = entry.slice(colon + 1)
        const embedded = name.startsWith('+')
        return { number, name: embedded ? name.slice(1) : name, embedded }
      })
}

/** The messages of a package by name. Each package is parsed on first use. */
function messagesOf(key: string): ReadonlyMap<string, string> {
  let messages = packages.get(key)
  if (!messages) {
    const lines = (fieldNumbers[key] ?? '').split('\n').filter((line) => line !== '')
    messages = new Map(
      lines.map((line) => {
        const end = line.indexOf(' ')
        return end < 0 ? [line, ''] : [line.slice(0, end), line.slice(end + 1)]
      }),
    )
    packages.set(key, messages)
  }
  return messages
}
