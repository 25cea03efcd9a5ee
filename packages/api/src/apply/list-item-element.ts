import { goQuote, isJsonObject } from '@kubewright/base'
import { canonicalJson } from '../fieldset/path-element.ts'
import { getOwn } from '../own-property.ts'
import type { ListType } from './type-node.ts'

/**
 * The path element that identifies an item of an associative list. Throws a TypeError with Kubernetes' message for an
 * item that cannot be identified.
 */
export function listItemElement(list: ListType, item: unknown): string {
  if (list.keys.length === 0) return setItemElement(item)
  if (item === null || item === undefined) throw new TypeError('associative list with keys may not have a null element')
  if (!isJsonObject(item)) throw new TypeError('associative list with keys may not have non-map elements')
  let element = ''
  for (const key of list.sortedKeys) {
    let value = getOwn(item, key)
    if (value === undefined) {
      // A key without a value and without a default is omitted. Such an item differs from one that has the key.
      value = list.keyDefault(key)
      if (value === undefined || value === null) continue
    }
    element += `${element === '' ? 'k:{' : ','}"${key}":${canonicalJson(value)}`
  }
  if (element === '') {
    const keys = list.keys.map(goQuote).join(' ')
    throw new TypeError(
      `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
    )
  }
  return `${element}}`
}

function setItemElement(item: unknown): string {
  if (typeof item === 'string') return `v:${canonicalJson(item)}`
  if (item === null || item === undefined) {
    throw new TypeError("associative list without keys has an element that's an explicit null")
  }
  if (Array.isArray(item)) throw new TypeError('not supported: associative list with lists as elements')
  if (typeof item === 'object') throw new TypeError("associative list without keys has an element that's a map type")
  return `v:${canonicalJson(item)}`
}

/** Like {@link listItemElement}, but returns undefined instead of throwing. For values that were validated before. */
export function knownItemElement(list: ListType, item: unknown): string | undefined {
  try {
    return listItemElement(list, item)
  } catch {
    return undefined
  }
}
