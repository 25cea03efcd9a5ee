import { FieldError, type FieldPath, omitValue } from '@kubewright/schema'
import { isPrintable } from '../fieldset/go-text.ts'

/** The maximum length of a field manager's name in bytes. */
export const fieldManagerMaxLength = 128

/** The field manager of a request: its `fieldManager` parameter, or else the name from its user agent. */
export function managerOrUserAgent(fieldManager: string, userAgent: string): string {
  return fieldManager !== '' ? fieldManager : prefixFromUserAgent(userAgent)
}

/**
 * The user agent up to the first slash, without unprintable characters, truncated to the maximum length of a manager
 * name.
 */
export function prefixFromUserAgent(userAgent: string): string {
  const prefix = userAgent.split('/', 1)[0] as string
  let name = ''
  let length = 0
  for (const character of prefix) {
    if (!isPrintable(character)) continue
    const size = byteLength(character)
    if (length + size > fieldManagerMaxLength) break
    name += character
    length += size
  }
  return name
}

/** Validates the name of a field manager: its length and that all characters are printable. */
export function validateFieldManager(name: string, path: FieldPath | string): FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(name) > fieldManagerMaxLength) {
    const detail = `may not be more than ${fieldManagerMaxLength} bytes`
    errors.push(new FieldError('FieldValueTooLong', path, omitValue, detail))
  }
  let position = 0
  for (const character of name) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
      errors.push(
        new FieldError('FieldValueInvalid', path, name, `invalid character U+${code} (at position ${position})`),
      )
    }
    position += byteLength(character)
  }
  return errors
}

function byteLength(text: string): number {
  let length = 0
  for (const character of text) {
    const code = character.codePointAt(0) as number
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}
