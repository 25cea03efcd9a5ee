/** Converts the typed keys of a controller to the text that queues, logs and metrics use, and back. */
export interface KeyType<K> {
  /** Equal keys must have equal texts, and different keys different texts. */
  format(key: K): string
  parse(text: string): K
}

/**
 * A key that consists of named texts, for {@link KeyControllerOptions.keys}.
 *
 * @example
 * const share = keyType('tenant', 'region')
 * share.format({ tenant: 'a', region: 'eu' }) // 'a/eu'
 */
export function keyType<const N extends string>(
  ...names: readonly [N, ...N[]]
): KeyType<{ readonly [P in N]: string }> {
  type Key = { readonly [P in N]: string }
  return Object.freeze({
    format: (key: Key) => names.map((name) => encodeURIComponent(key[name])).join('/'),
    parse(text: string): Key {
      const parts = text.split('/')
      if (parts.length !== names.length) {
        throw new TypeError(`Key ${JSON.stringify(text)} does not have the parts ${names.join('/')}: use format()`)
      }
      const entries = names.map((name, index) => [name, decodeURIComponent(parts[index] as string)])
      return Object.freeze(Object.fromEntries(entries)) as Key
    },
  })
}
