import type { MetricDefinition } from './metric-definition.ts'

const validName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const validLabel = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

/** Returns a definition that Prometheus accepts. Throws a TypeError for another one. */
export function checkDefinition(definition: MetricDefinition): MetricDefinition {
  const { name, type, labels = [], buckets = [] } = definition
  const wrong = labels.find((label) => !validLabel.test(label) || (type === 'histogram' && label === 'le'))
  if (!validName.test(name))
    throw new TypeError(`Cannot define metric "${name}": a name may contain only letters, digits, _ and :`)
  if (wrong !== undefined) {
    throw new TypeError(
      `Cannot define metric "${name}": "${wrong}" is not a valid label name; use letters, digits and _`,
    )
  }
  if (buckets.some((bound, index) => !(bound > (buckets[index - 1] ?? Number.NEGATIVE_INFINITY)))) {
    throw new TypeError(`Cannot define metric "${name}": its buckets must be in ascending order: ${buckets.join(', ')}`)
  }
  return definition
}
