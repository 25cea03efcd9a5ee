import { utf8Length } from '@kubewright/base'
import { fieldManagerMaxLength } from '@kubewright/schema'
import { isPrintable } from '../fieldset/go-text.ts'

/** The field manager of a request: its `fieldManager` parameter, or else the name from its user agent. */
export function managerOrUserAgent(fieldManager: string, userAgent: string): string {
  return fieldManager !== '' ? fieldManager : prefixFromUserAgent(userAgent)
}

/** Printable ASCII within the maximum length. */
const plainName = /^[ -~]{0,128}$/

/**
 * The user agent up to the first slash, without unprintable characters, truncated to the maximum length of a manager
 * name.
 */
export function prefixFromUserAgent(userAgent: string): string {
  const prefix = userAgent.split('/', 1)[0] as string
  if (plainName.test(prefix)) return prefix
  let name = ''
  let length = 0
  for (const character of prefix) {
    if (!isPrintable(character)) continue
    const size = utf8Length(character)
    if (length + size > fieldManagerMaxLength) break
    name += character
    length += size
  }
  return name
}
