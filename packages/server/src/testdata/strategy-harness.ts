import { deepCopy } from '@kubewright/base'
import { builtinResources } from '../builtins/builtin-resources.ts'
import type { BuiltinBehavior, BuiltinDefinition } from '../builtins/define-builtin.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StrategyContext } from '../resource/strategy.ts'

/** Runs the strategies of built-in resources on plain objects, without a server. */
export interface StrategyHarness {
  /** Finds the resource of an apiVersion and kind. */
  resourceFor(apiVersion: string, kind: string): Resource
  /** The object as the decoder returns it: typed and with defaults. */
  defaulted(object: object): MutableObject
  /** The object after the strategy prepared it for create. */
  prepared(object: object): MutableObject
  /** The error texts of a create. */
  createErrors(object: object): Promise<string[]>
  /** The warnings of a create. */
  createWarnings(object: object): readonly string[]
  /** The object after an update; `change` edits a copy of the stored object. */
  updated(
    object: object,
    change: (object: MutableObject) => void,
    subresource?: string,
  ): Promise<{ object: MutableObject; errors: string[] }>
}

const now = Date.UTC(2026, 0, 2, 3, 4, 5)

function contextOf(resource: Resource, subresource = ''): StrategyContext {
  const namespace = resource.kind.scope === 'Namespaced' ? 'default' : ''
  // No strategy under test reads the request.
  const request = { warn: () => undefined } as never
  return { request, now, namespace, subresource, dryRun: false, newUid: () => 'uid-1' }
}

/** Creates a harness for the given definitions. Other resources have the default behaviour. */
export function strategyHarness(...definitions: readonly BuiltinDefinition[]): StrategyHarness {
  const resources = builtinResources(defaultServedRelease, definitions)
  const resourceFor = (apiVersion: string, kind: string): Resource => {
    const found = resources.find((resource) => resource.kind.apiVersion === apiVersion && resource.kind.kind === kind)
    if (!found) throw new Error(`No resource for ${apiVersion} ${kind}`)
    return found
  }
  const defaulted = (object: object): MutableObject => {
    const given = deepCopy(object) as MutableObject
    given.metadata ??= {}
    const { codec } = resourceFor(given.apiVersion, given.kind)
    const { object: typed, strictErrors } = codec.recheck(given, { strict: true, source: 'json' })
    if (strictErrors.length > 0) throw new Error(strictErrors.join(', '))
    return typed
  }
  const prepared = (object: object): MutableObject => {
    const given = defaulted(object)
    const resource = resourceFor(given.apiVersion, given.kind)
    given.metadata.uid ??= 'uid-1'
    if (resource.kind.scope === 'Namespaced') given.metadata.namespace ??= 'default'
    resource.strategy.prepareForCreate?.(given, contextOf(resource))
    return resource.codec.toWorkingForm(given)
  }
  return {
    resourceFor,
    defaulted,
    prepared,
    createErrors: async (object) => {
      const given = prepared(object)
      const resource = resourceFor(given.apiVersion, given.kind)
      const errors = (await resource.strategy.validate?.(given, contextOf(resource))) ?? []
      return errors.map(String)
    },
    createWarnings: (object) => {
      const given = prepared(object)
      return resourceFor(given.apiVersion, given.kind).strategy.warningsOnCreate?.(given) ?? []
    },
    updated: async (object, change, subresource = '') => {
      const old = prepared(object)
      old.metadata.resourceVersion = '1'
      const resource = resourceFor(old.apiVersion, old.kind)
      const own = subresource === '' ? undefined : resource.subresources[subresource]?.strategy
      const strategy = own ?? resource.strategy
      const next = deepCopy(old)
      change(next)
      const fresh = defaulted(next)
      strategy.prepareForUpdate?.(fresh, old, contextOf(resource, subresource))
      const errors = (await strategy.validateUpdate?.(fresh, old, contextOf(resource, subresource))) ?? []
      return { object: fresh, errors: errors.map(String) }
    },
  }
}

/** The time of the request in {@link cellsOf}. */
export const tableTime: number = Date.UTC(2024, 0, 1, 1)

/** The table cells of an object that is named x and one hour old. */
export function cellsOf(
  { table }: Pick<BuiltinBehavior, 'table'>,
  fields: { readonly metadata?: object; readonly [field: string]: unknown } = {},
): readonly unknown[] {
  if (!table) throw new Error('The definition has no table')
  const metadata = { name: 'x', creationTimestamp: '2024-01-01T00:00:00Z', ...fields.metadata }
  return table.row({ apiVersion: '', kind: '', ...fields, metadata }, tableTime)
}
