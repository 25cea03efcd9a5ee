import { type ExpositionFormat, exposition } from './exposition.ts'
import type { MetricDefinition } from './metric-definition.ts'
import { MetricFamily } from './metric-series.ts'
import type { MetricLabels, MetricSink } from './metric-sink.ts'

/** A sink that keeps what it is told and shows it to Prometheus. Registries share nothing: a process may have several. */
export interface MetricRegistry extends MetricSink {
  /** Makes metrics known. A name may be defined again only in the same way. */
  define(definitions: Iterable<MetricDefinition>): void
  /** Shows a series at zero before its first measurement, so that rates have something to start from. */
  initialise(name: string, labels: MetricLabels): void
  /** Stops showing a series, for instance because what it is about has gone. */
  remove(name: string, labels: MetricLabels): void
  /** Has `collect` called before each exposition, for values that are only worth reading when somebody looks. */
  beforeEach(collect: () => void): Disposable
  /** All metrics as text, by name. @default the text format 0.0.4 */
  text(format?: ExpositionFormat): string
}

/** Makes a registry that knows the given metrics. Measurements of a metric that was never defined are shown too, without a help text. */
export function createMetricRegistry(definitions: Iterable<MetricDefinition> = []): MetricRegistry {
  const registry = new Registry()
  registry.define(definitions)
  return registry
}

const validName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const validLabel = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

class Registry implements MetricRegistry {
  readonly #families = new Map<string, MetricFamily>()
  readonly #collectors = new Set<() => void>()

  define(definitions: Iterable<MetricDefinition>): void {
    for (const definition of definitions) {
      const known = this.#families.get(definition.name)
      if (known === undefined) this.#families.set(definition.name, new MetricFamily(checked(definition)))
      else if (signature(known.definition) !== signature(definition)) {
        throw new TypeError(
          `Cannot define metric "${definition.name}" as it is defined already with another type, labels or buckets: ` +
            'give one of the two another name',
        )
      }
    }
  }

  initialise(name: string, labels: MetricLabels): void {
    this.#family(name, 'counter').of(labels)
  }

  remove(name: string, labels: MetricLabels): void {
    this.#families.get(name)?.remove(labels)
  }

  add(name: string, labels: MetricLabels, amount: number): void {
    this.#family(name, 'counter').of(labels).value += amount
  }

  set(name: string, labels: MetricLabels, value: number): void {
    this.#family(name, 'gauge').of(labels).value = value
  }

  observe(name: string, labels: MetricLabels, value: number): void {
    this.#family(name, 'histogram').observe(labels, value)
  }

  beforeEach(collect: () => void): Disposable {
    // Wrapped, so that one function may be added twice.
    const collector = (): void => collect()
    this.#collectors.add(collector)
    return { [Symbol.dispose]: () => void this.#collectors.delete(collector) }
  }

  text(format: ExpositionFormat = 'text'): string {
    for (const collect of this.#collectors) collect()
    return exposition(this.#families.values(), format)
  }

  #family(name: string, type: MetricDefinition['type']): MetricFamily {
    const known = this.#families.get(name)
    if (known !== undefined) return known
    const family = new MetricFamily({ name, type, help: '' })
    this.#families.set(name, family)
    return family
  }
}

function checked(definition: MetricDefinition): MetricDefinition {
  const { name, type, labels = [], buckets = [] } = definition
  const wrong = labels.find((label) => !validLabel.test(label) || (type === 'histogram' && label === 'le'))
  if (!validName.test(name)) throw new TypeError(`Cannot define metric "${name}": a name has letters, digits, _ and :`)
  if (wrong !== undefined) {
    throw new TypeError(`Cannot define metric "${name}" as "${wrong}" is no name of a label: use letters, digits and _`)
  }
  if (buckets.some((bound, index) => !(bound > (buckets[index - 1] ?? Number.NEGATIVE_INFINITY)))) {
    throw new TypeError(`Cannot define metric "${name}" as its 'buckets' do not ascend: ${buckets.join(', ')}`)
  }
  return definition
}

function signature({ type, labels = [], buckets = [] }: MetricDefinition): string {
  return JSON.stringify([type, labels, buckets])
}
