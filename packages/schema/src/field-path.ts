/**
 * The path from some root to a field, printed exactly as apimachinery's `field.Path`: `spec.items[0].labels[app]`.
 *
 * Immutable and cheap: a step allocates one small object and text is built only by {@link FieldPath.toString}, so validators may
 * carry paths freely and pay for the text only when they report an error.
 */
export class FieldPath {
  readonly #parent: FieldPath | undefined
  readonly #name: string
  readonly #subscript: string

  private constructor(parent: FieldPath | undefined, name: string, subscript: string) {
    this.#parent = parent
    this.#name = name
    this.#subscript = subscript
  }

  /** The path above every root: it prints as `<nil>`, and its children print without a leading dot. */
  static readonly none: FieldPath = new FieldPath(undefined, '', '')

  /** A path that starts at the field `name`, followed by `moreNames` as children. */
  static of(name: string, ...moreNames: string[]): FieldPath {
    let path = new FieldPath(undefined, name, '')
    for (const another of moreNames) path = new FieldPath(path, another, '')
    return path
  }

  /** The path of a named field below this one; further names go deeper. */
  child(name: string, ...moreNames: string[]): FieldPath {
    let path = new FieldPath(this.#orUndefined(), name, '')
    for (const another of moreNames) path = new FieldPath(path, another, '')
    return path
  }

  /** The path of an element of the list at this path. */
  index(index: number): FieldPath {
    return new FieldPath(this.#orUndefined(), '', String(index))
  }

  /** The path of an entry of the map at this path. */
  key(key: string): FieldPath {
    return new FieldPath(this.#orUndefined(), '', key)
  }

  /** The first step of this path. */
  root(): FieldPath {
    let path: FieldPath = this
    while (path.#parent !== undefined) path = path.#parent
    return path
  }

  toString(): string {
    if (this === FieldPath.none) return '<nil>'
    let text = ''
    for (let path: FieldPath | undefined = this; path !== undefined; path = path.#parent) {
      const name = path.#name
      if (name.length === 0) text = `[${path.#subscript}]${text}`
      else text = path.#parent === undefined ? name + text : `.${name}${text}`
    }
    return text
  }

  #orUndefined(): FieldPath | undefined {
    return this === FieldPath.none ? undefined : this
  }
}
