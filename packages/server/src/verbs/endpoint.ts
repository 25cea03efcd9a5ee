import { createFieldManager, type FieldManager, managerOrUserAgent, zeroObject } from '@kubewright/api'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ObjectRegistry, WriteScope } from '../registry/object-registry.ts'
import type { WriteOptions } from '../registry/request-options.ts'
import type { MutableObject, Resource, Strategy } from '../registry/resource.ts'
import type { RequestContext } from '../request-context.ts'

/** What the verbs of one resource, or of one of its subresources, work with. */
export class Endpoint {
  readonly registry: ObjectRegistry
  readonly resource: Resource
  /** The empty string for the resource itself. */
  readonly subresource: string
  readonly admission: AdmissionChain
  #fieldManager: FieldManager | undefined

  constructor(parts: { registry: ObjectRegistry; resource: Resource; subresource: string; admission: AdmissionChain }) {
    this.registry = parts.registry
    this.resource = parts.resource
    this.subresource = parts.subresource
    this.admission = parts.admission
  }

  /** Group and plural, as errors name the resource. */
  get groupResource(): { readonly group: string; readonly resource: string } {
    return { group: this.resource.kind.group, resource: this.resource.kind.plural }
  }

  get strategy(): Strategy {
    return (
      (this.subresource === '' ? undefined : this.resource.subresources[this.subresource]?.strategy) ??
      this.resource.strategy
    )
  }

  /** Tracks who owns which field; made when the first write comes, because it reads the schema. */
  get fieldManager(): FieldManager {
    if (!this.#fieldManager) {
      const { kind, schema, empty } = this.resource
      this.#fieldManager = createFieldManager({
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        subresource: this.subresource,
        ...(empty ? { emptyObject: empty() } : {}),
        schemaFor: (apiVersion) => (apiVersion === kind.apiVersion ? schema : undefined),
        ...(this.resource.typedItems ? { emptyObject: zeroObject(kind.apiVersion, kind.kind, schema) } : {}),
        ...(this.strategy.resetFields ? { resetFields: { [kind.apiVersion]: this.strategy.resetFields } } : {}),
        ...this.resource.fieldManager,
      })
    }
    return this.#fieldManager
  }

  scope(context: RequestContext, options: Pick<WriteOptions, 'dryRun'>): WriteScope {
    return {
      context,
      resource: this.resource,
      namespace: this.resource.kind.scope === 'Namespaced' ? context.info.namespace : '',
      subresource: this.subresource,
      strategy: this.strategy,
      dryRun: options.dryRun,
    }
  }

  /** Records who changed what, as every write that is not an apply does. */
  trackUpdate(
    live: MutableObject | undefined,
    next: MutableObject,
    context: RequestContext,
    options: Pick<WriteOptions, 'fieldManager'>,
  ): MutableObject {
    const manager = managerOrUserAgent(options.fieldManager, context.request.headers['user-agent'] ?? '')
    const now = this.registry.timestamp()
    return this.fieldManager.updateNoErrors(live, next, { manager, now }) as MutableObject
  }
}
