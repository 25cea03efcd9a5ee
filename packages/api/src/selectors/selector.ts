import { compareUtf8 } from '@kubewright/base'
import { type LabelSet, newRequirement, Requirement } from './requirement.ts'

/**
 * A label selector: the conjunction of its requirements. Immutable. Requirements are sorted by key, so equal selectors
 * have equal string forms.
 */
export class Selector {
  /** Selects every object. */
  static readonly everything: Selector = new Selector([])
  /**
   * Selects no object. Its string form is empty, as in apimachinery, so check {@link Selector.isNothing} before
   * printing.
   */
  static readonly nothing: Selector = new Selector([], true)

  readonly requirements: readonly Requirement[]
  /** True only for {@link Selector.nothing}. */
  readonly isNothing: boolean

  private constructor(requirements: readonly Requirement[], isNothing = false) {
    this.requirements = requirements
    this.isNothing = isNothing
  }

  /** The selector with these requirements. */
  static of(requirements: readonly Requirement[]): Selector {
    if (requirements.length === 0) return Selector.everything
    return new Selector([...requirements].sort((a, b) => compareUtf8(a.key, b.key)))
  }

  /** The selector of objects that have all these labels. Throws when a label is invalid. */
  static fromLabels(labels: LabelSet): Selector {
    const entries = Object.entries(labels ?? {})
    return Selector.of(entries.map(([key, value]) => newRequirement(key, '=', [value])))
  }

  /** Like {@link Selector.fromLabels}, without validation, for labels that are known to be valid. */
  static fromValidLabels(labels: LabelSet): Selector {
    const entries = Object.entries(labels ?? {})
    return Selector.of(entries.map(([key, value]) => new Requirement(key, '=', [value])))
  }

  /** True when the selector selects every object. */
  get isEverything(): boolean {
    return this.requirements.length === 0 && !this.isNothing
  }

  /** Whether the selector selects an object with these labels. */
  matches(labels: LabelSet): boolean {
    if (this.isNothing) return false
    for (const requirement of this.requirements) if (!requirement.matches(labels)) return false
    return true
  }

  /** The selector with additional requirements. {@link Selector.nothing} stays nothing. */
  and(...requirements: readonly Requirement[]): Selector {
    return this.isNothing ? this : Selector.of([...this.requirements, ...requirements])
  }

  /** The single value that the selector requires of a label, or undefined. Useful for index lookups. */
  exactValueOf(key: string): string | undefined {
    const first = this.requirements.find((requirement) => requirement.key === key)
    if (first === undefined || first.values.length !== 1) return undefined
    return first.operator === '=' || first.operator === '==' || first.operator === 'in' ? first.values[0] : undefined
  }

  /** The selector in the syntax of `labelSelector=` and `kubectl -l`, in canonical order. */
  toString(): string {
    return this.requirements.join(',')
  }
}
