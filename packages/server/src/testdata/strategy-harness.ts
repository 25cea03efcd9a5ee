import { deepCopy } from '@kubewright/base'
import { builtinResources } from '../builtins/builtin-resources.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StrategyContext } from '../resource/strategy.ts'
import { allBuiltins } from './all-builtins.ts'

// Runs the strategies of built-in resources on plain objects, without a server.

const resources = builtinResources(allBuiltins)
const now = Date.UTC(2026, 0, 2, 3, 4, 5)

/** The resource of an apiVersion and kind. */
export function resourceFor(apiVersion: string, kind: string): Resource {
  const found = resources.find((resource) => resource.kind.apiVersion === apiVersion && resource.kind.kind === kind)
  if (!found) throw new Error(`No resource for ${apiVersion} ${kind}`)
  return found
}

function contextOf(resource: Resource, subresource = ''): StrategyContext {
  const namespace = resource.kind.scope === 'Namespaced' ? 'default' : ''
  // No strategy under test reads the request.
  return { request: undefined as never, now, namespace, subresource, dryRun: false }
}

/** The object as the decoder returns it: typed and with defaults. */
export function defaulted(object: object): MutableObject {
  const given = deepCopy(object) as MutableObject
  given.metadata ??= {}
  const resource = resourceFor(given.apiVersion, given.kind)
  const { object: typed, strictErrors } = resource.codec.recheck(given, { strict: true, source: 'json' })
  if (strictErrors.length > 0) throw new Error(strictErrors.join(', '))
  return typed
}

/** The object after the strategy prepared it for create. */
export function prepared(object: object): MutableObject {
  const given = defaulted(object)
  const resource = resourceFor(given.apiVersion, given.kind)
  given.metadata.uid ??= 'uid-1'
  if (resource.kind.scope === 'Namespaced') given.metadata.namespace ??= 'default'
  resource.strategy.prepareForCreate?.(given, contextOf(resource))
  return resource.codec.toWorkingForm(given)
}

/** The error texts of a create. */
export async function createErrors(object: object): Promise<string[]> {
  const given = prepared(object)
  const resource = resourceFor(given.apiVersion, given.kind)
  const errors = (await resource.strategy.validate?.(given, contextOf(resource))) ?? []
  return errors.map(String)
}

/** The warnings of a create. */
export function createWarnings(object: object): readonly string[] {
  const given = prepared(object)
  return resourceFor(given.apiVersion, given.kind).strategy.warningsOnCreate?.(given) ?? []
}

/** The object after an update; `change` edits a copy of the stored object. */
export async function updated(
  object: object,
  change: (object: MutableObject) => void,
  subresource = '',
): Promise<{ object: MutableObject; errors: string[] }> {
  const old = prepared(object)
  old.metadata.resourceVersion = '1'
  const resource = resourceFor(old.apiVersion, old.kind)
  const strategy = (subresource === '' ? undefined : resource.subresources[subresource]?.strategy) ?? resource.strategy
  const next = deepCopy(old)
  change(next)
  const fresh = defaulted(next)
  strategy.prepareForUpdate?.(fresh, old, contextOf(resource, subresource))
  const errors = (await strategy.validateUpdate?.(fresh, old, contextOf(resource, subresource))) ?? []
  return { object: fresh, errors: errors.map(String) }
}
