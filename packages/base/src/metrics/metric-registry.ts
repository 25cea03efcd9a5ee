import { checkDefinition } from './check-definition.ts'
import { type ExpositionFormat, exposition } from './exposition.ts'
import { type AnyMetric, familyOf } from './metric.ts'
import type { MetricDefinition } from './metric-definition.ts'
import { MetricFamily } from './metric-series.ts'
import type { MetricLabels, MetricSink } from './metric-sink.ts'

/** A sink that keeps measurements and writes them as text for Prometheus. Registries share no state: a process may have several. */
export interface MetricRegistry extends MetricSink {
  /** Defines metrics. A second definition of a name must have the same type, labels and buckets. Throws a TypeError. */
  define(definitions: Iterable<MetricDefinition>): void
  /**
   * Shows metrics that hold their own measurements, such as those of `counter`. Throws a TypeError when a name is
   * defined already.
   */
  include(metrics: Iterable<AnyMetric>): void
  /** Shows a series at zero before its first measurement, so that a rate can be computed from the first one. */
  initialise(name: string, labels: MetricLabels): void
  /** Removes a series, for instance of an object that was deleted. */
  remove(name: string, labels: MetricLabels): void
  /** Removes all series of a metric. */
  clear(name: string): void
  /** Calls `collect` before each exposition, for values that are only read when they are shown. Dispose the result to stop. */
  beforeEach(collect: () => void): Disposable
  /** All metrics as text, sorted by name. @default the text format 0.0.4 */
  text(format?: ExpositionFormat): string
}

/** Creates a registry with the given metrics. Measurements of an undefined metric are shown too, without a help text. */
export function createMetricRegistry(definitions: Iterable<MetricDefinition> = []): MetricRegistry {
  const registry = new Registry()
  registry.define(definitions)
  return registry
}

class Registry implements MetricRegistry {
  readonly #families = new Map<string, MetricFamily>()
  readonly #collectors = new Set<() => void>()

  define(definitions: Iterable<MetricDefinition>): void {
    for (const definition of definitions) {
      const known = this.#families.get(definition.name)
      if (known === undefined) this.#families.set(definition.name, new MetricFamily(checkDefinition(definition)))
      else if (signature(known.definition) !== signature(definition)) {
        throw new TypeError(
          `Cannot define metric "${definition.name}" as it is defined already with another type, labels or buckets: ` +
            'give one of the two another name',
        )
      }
    }
  }

  include(metrics: Iterable<AnyMetric>): void {
    for (const metric of metrics) {
      const { name } = metric.definition
      const family = familyOf(metric)
      const known = this.#families.get(name)
      if (known !== undefined && known !== family) {
        throw new TypeError(`Cannot include metric "${name}" as that name is defined already: give it another name`)
      }
      this.#families.set(name, family)
    }
  }

  initialise(name: string, labels: MetricLabels): void {
    this.#family(name, 'counter').of(labels)
  }

  remove(name: string, labels: MetricLabels): void {
    this.#families.get(name)?.remove(labels)
  }

  clear(name: string): void {
    this.#families.get(name)?.clear()
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

function signature({ type, labels = [], buckets = [] }: MetricDefinition): string {
  return JSON.stringify([type, labels, buckets])
}
