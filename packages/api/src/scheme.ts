import { goQuote, KubewrightError } from '@kubewright/base'
import {
  formatGroupVersion,
  formatGroupVersionResource,
  type GroupVersionKind,
  type GroupVersionResource,
} from './gvk.ts'
import type { AnyKind } from './kind.ts'
import { compareVersionPriority } from './version-priority.ts'

/** A kind or resource is not registered in a {@link Scheme}. */
export class NotRegisteredError extends KubewrightError {
  static {
    const name = { value: 'NotRegisteredError', writable: true, configurable: true }
    Object.defineProperty(NotRegisteredError.prototype, 'name', name)
  }

  constructor(message: string) {
    super('KW_NOT_REGISTERED', message)
  }
}

/**
 * A set of kinds that can be looked up by name, for code that handles objects of kinds it does not know in advance,
 * such as decoders, caches of many kinds and command lines. There is no global scheme: create one and pass it as an
 * argument.
 */
export class Scheme {
  /** Appears in error messages. */
  readonly name: string
  readonly #byKind = new Map<string, AnyKind>()
  readonly #byResource = new Map<string, AnyKind>()

  constructor(kinds: Iterable<AnyKind> = [], options: { readonly name?: string | undefined } = {}) {
    this.name = options.name ?? 'kubewright'
    for (const kind of kinds) this.register(kind)
  }

  /** Adds kinds. Registering the same Kind again has no effect; a different Kind with the same name throws a TypeError. */
  register(...kinds: readonly AnyKind[]): this {
    for (const kind of kinds) {
      const key = kindKey(kind)
      const existing = this.#byKind.get(key)
      if (existing === kind) continue
      if (existing !== undefined) {
        throw new TypeError(`Double registration of different types for ${key} in scheme ${goQuote(this.name)}`)
      }
      this.#byKind.set(key, kind)
      this.#byResource.set(resourceKey({ ...names(kind), resource: kind.plural }), kind)
    }
    return this
  }

  /** The kind with that name, or undefined. */
  find(gvk: GroupVersionKind): AnyKind | undefined {
    return this.#byKind.get(kindKey(gvk))
  }

  /** The kind with that name. Throws {@link NotRegisteredError}. */
  get(gvk: GroupVersionKind): AnyKind {
    const kind = this.find(gvk)
    if (kind !== undefined) return kind
    const version = goQuote(formatGroupVersion(gvk))
    throw new NotRegisteredError(
      gvk.kind === ''
        ? `no version ${version} has been registered in scheme ${goQuote(this.name)}`
        : `no kind ${goQuote(gvk.kind)} is registered for version ${version} in scheme ${goQuote(this.name)}`,
    )
  }

  /** The kind of an object, by its `apiVersion` and `kind`. Throws {@link NotRegisteredError}. */
  kindOf(object: { readonly apiVersion: string; readonly kind: string }): AnyKind {
    const slash = object.apiVersion.indexOf('/')
    const group = slash < 0 ? '' : object.apiVersion.slice(0, slash)
    return this.get({ group, version: object.apiVersion.slice(slash + 1), kind: object.kind })
  }

  /** The kind that a resource serves. Throws {@link NotRegisteredError}. */
  forResource(gvr: GroupVersionResource): AnyKind {
    const kind = this.#byResource.get(resourceKey(gvr))
    if (kind === undefined) throw new NotRegisteredError(`no matches for ${formatGroupVersionResource(gvr)}`)
    return kind
  }

  /** The kinds of a group, or of all groups, in registration order. */
  kinds(group?: string): AnyKind[] {
    const all = [...this.#byKind.values()]
    return group === undefined ? all : all.filter((kind) => kind.group === group)
  }

  /** The registered versions of a kind, in priority order. */
  versionsOf(group: string, kind: string): string[] {
    const versions = this.kinds(group).filter((known) => known.kind === kind)
    return versions.map((known) => known.version).sort(compareVersionPriority)
  }

  /**
   * The kinds that match a user's word: a kind, plural, singular or short name, in any case, optionally followed by a
   * dot and the group (`deployments.apps`, `hm`). Of several versions of a kind only the preferred one is returned.
   */
  match(word: string): AnyKind[] {
    const [head = '', ...rest] = word.toLowerCase().split('.')
    const group = rest.join('.')
    const best = new Map<string, AnyKind>()
    for (const kind of this.#byKind.values()) {
      const words = [kind.plural, kind.singular, kind.kind.toLowerCase(), ...kind.shortNames]
      if (!words.includes(head) || (group !== '' && kind.group !== group)) continue
      const key = `${kind.group}/${kind.kind}`
      const other = best.get(key)
      if (other === undefined || compareVersionPriority(kind.version, other.version) < 0) best.set(key, kind)
    }
    return [...best.values()]
  }
}

function names(kind: AnyKind): { group: string; version: string } {
  return { group: kind.group, version: kind.version }
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`
}

function resourceKey(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}/${gvr.resource}`
}
