import {
  escapeFieldValue,
  type FieldSelector,
  newBadRequest,
  parseFieldSelector,
  parseSelector,
  type Selector,
} from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import type { StoredObject } from '../../resource/stored-object.ts'

/** The objects of a collection that a request selects. */
export interface Selection {
  readonly labels: Selector
  readonly fields: FieldSelector
  /** Whether every object is selected. */
  readonly everything: boolean
  /** The only name that can match, if the field selector has one. */
  readonly name: string | undefined
  matches(object: StoredObject): boolean
}

/** The parsed selectors of a query. */
export interface Selectors {
  readonly labels: Selector
  readonly fields: FieldSelector
}

/** Parses the selectors of the query. Throws a BadRequest for a malformed one. */
export function parseSelectors(query: URLSearchParams): Selectors {
  return {
    labels: parsed(() => parseSelector(query.get('labelSelector') ?? '')),
    fields: parsed(() => parseFieldSelector(query.get('fieldSelector') ?? '')),
  }
}

/**
 * Selects the objects of a resource. Throws a BadRequest for unknown fields. A name, which the deprecated watch paths can have, acts as a
 * selector for metadata.name.
 */
export function selectionOf(resource: Resource, { labels, fields: given }: Selectors, name = ''): Selection {
  for (const { field } of given.requirements) checkField(resource, field)
  let fields = given
  if (name !== '') {
    const byName = parseFieldSelector(`metadata.name=${escapeFieldValue(name)}`)
    // Authorization was for the name in the path, so the selector must require exactly this name: `!=` is not enough.
    if (fields.isEverything) fields = byName
    else if (fields.exactValueOf('metadata.name') !== name) {
      throw newBadRequest("fieldSelector metadata.name doesn't match requested name")
    }
  }
  const everything = labels.isEverything && fields.isEverything
  const exactName = fields.exactValueOf('metadata.name')
  // A selector for a name alone, as kubelets and `kubectl wait` use it, compares keys, so that no object is parsed.
  const isNameOnly = labels.isEverything && fields.requirements.length === 1 && !exactName?.includes('/')
  const keyEnd = isNameOnly && exactName !== undefined ? `/${exactName}` : undefined
  return {
    labels,
    fields,
    everything,
    name: exactName,
    matches(stored) {
      if (everything) return true
      if (keyEnd !== undefined) return stored.key.endsWith(keyEnd)
      const object = (resource.conversion.storage?.peek(stored) ?? stored).object as MutableObject
      return labels.matches(object.metadata.labels) && fields.matchesBy((field) => readField(resource, object, field))
    },
  }
}

function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw newBadRequest((error as Error).message)
  }
}

function checkField(resource: Resource, field: string): void {
  if (field === 'metadata.name') return
  const { origin, kind } = resource
  if (field === 'metadata.namespace' && (origin.selectsNamespaceInEveryScope || kind.scope === 'Namespaced')) return
  if (Object.hasOwn(resource.selectors.fields, field)) return
  const text =
    resource.selectors.unknownField?.(field) ??
    `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  throw newBadRequest(text)
}

function readField(resource: Resource, object: MutableObject, field: string): string {
  if (field === 'metadata.name') return object.metadata.name ?? ''
  if (field === 'metadata.namespace') return object.metadata.namespace ?? ''
  return resource.selectors.fields[field]?.(object) ?? ''
}
