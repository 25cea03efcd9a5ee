import { KubewrightError } from '@kubewright/base'
import type { Fault, FaultConsequence, FaultDefinition, FaultPlace } from './define-fault.ts'
import { classTurns } from './fault-classes.ts'

/** The kinds of faults of a simulation. Answers everything about a fault from the definition of its kind. */
export class FaultKinds {
  /** In the order of registration. */
  readonly all: readonly FaultDefinition[]
  readonly #byKind: ReadonlyMap<string, FaultDefinition>

  /** Throws if two definitions have the same kind. */
  constructor(definitions: readonly FaultDefinition[]) {
    this.all = definitions
    this.#byKind = new Map(definitions.map((definition) => [definition.kind, definition]))
    const twice = definitions.find((definition) => this.#byKind.get(definition.kind) !== definition)
    if (twice === undefined) return
    throw new KubewrightError(
      'KW_SIMULATION_FAULT',
      `Cannot add the fault "${twice.kind}": another fault has this kind; choose another one`,
    )
  }

  /** The classes in the order of their turns. Classes without a turn follow. */
  get turns(): readonly string[] {
    return [...classTurns, ...new Set(this.all.map((one) => one.class))].filter(
      (name, index, names) => index < classTurns.length || names.indexOf(name) === index,
    )
  }

  /** The classes with these names; all by default. Throws if there is no such class. */
  classes(names: readonly string[] | undefined): ReadonlySet<string> {
    const known = new Set(this.turns)
    const unknown = names?.find((name) => !known.has(name))
    if (unknown === undefined) return names === undefined ? known : new Set(names)
    throw new KubewrightError(
      'KW_SIMULATION_FAULT',
      `There is no class "${unknown}" of faults: use ${[...known].join(', ')}`,
    )
  }

  /** The definition of a fault. Throws for an unknown kind, such as that of a schedule of another simulation. */
  of({ kind }: Fault): FaultDefinition {
    const found = this.#byKind.get(kind)
    if (found !== undefined) return found
    throw new KubewrightError(
      'KW_SIMULATION_FAULT',
      `The schedule has a fault of the unknown kind "${kind}": pass its definition in 'extraFaults'`,
    )
  }

  classOf(fault: Fault): string {
    return this.of(fault).class
  }

  /** The number of the last action at which a fault happens. */
  lastActionOf(fault: Fault): number {
    return this.of(fault).lastAction?.(fault) ?? fault.at
  }

  /** The handicap of a fault in the search. */
  penaltyOf(fault: Fault, place: FaultPlace): number {
    return this.of(fault).penalty?.(fault, place) ?? (place === 'early' ? 4 : 0)
  }

  needsReplicas(fault: Fault): boolean {
    return this.of(fault).needsReplicas ?? false
  }

  /** Whether one of the faults may lead to another end state. */
  haveOwnEnd(faults: readonly Fault[]): boolean {
    return faults.some((fault) => this.of(fault).hasOwnEnd?.(fault) ?? false)
  }

  /** Whether one of the faults has a consequence. */
  have(faults: Iterable<Fault>, consequence: FaultConsequence): boolean {
    return [...faults].some((fault) => this.of(fault).consequences?.includes(consequence) ?? false)
  }
}
