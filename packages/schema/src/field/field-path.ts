import { spendSteps } from './validation-steps.ts'

/**
 * The path from a root to a field, formatted exactly like apimachinery's `field.Path`: `spec.items[0].labels[app]`.
 *
 * Immutable and cheap: each step allocates one small object, and only {@link FieldPath.toString} builds text.
 * Validators can therefore pass paths along and pay for the text only when they report an error.
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

  /** The empty path. It prints as `<nil>`, and its children print without a leading dot. */
  static readonly none: FieldPath = new FieldPath(undefined, '', '')

  /** Returns a path that starts at the field `name`, followed by `moreNames` as children. */
  static of(name: string, ...moreNames: string[]): FieldPath {
    let path = new FieldPath(undefined, name, '')
    for (const another of moreNames) path = new FieldPath(path, another, '')
    return path
  }

  /** Returns the path of a named field below this one; further names descend further. */
  child(name: string, ...moreNames: string[]): FieldPath {
    let path = new FieldPath(this.#orUndefined(), name, '')
    for (const another of moreNames) path = new FieldPath(path, another, '')
    return path
  }

  /** Returns the path of an element of the list at this path. */
  index(index: number): FieldPath {
    spendSteps(1)
    return new FieldPath(this.#orUndefined(), '', String(index))
  }

  /** Returns the path of an entry of the map at this path. */
  key(key: string): FieldPath {
    spendSteps(1)
    return new FieldPath(this.#orUndefined(), '', key)
  }

  /** Returns the first step of this path. */
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
