import {
  type ApplyFieldsOptions,
  type ApplyFieldsResult,
  type AsyncFieldManager,
  createAsyncFieldManager,
  createFieldManager,
  type FieldManager,
  type FieldManagerOptions,
  type KindFacts,
  managerOrUserAgent,
  newConflict,
} from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ObjectRegistry, WriteScope } from '../registry/object-registry.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { WriteOptions } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Rechecked, RecheckOptions } from '../resource/object-codec.ts'
import type { Resource } from '../resource/resource.ts'
import type { Strategy } from '../resource/strategy.ts'
import type { Subresource } from '../resource/subresource.ts'

/** What the verbs of one resource, or of one of its subresources, work with. */
export class Endpoint {
  readonly registry: ObjectRegistry
  readonly resource: Resource
  /** The empty string for the resource itself. */
  readonly subresource: string
  readonly admission: AdmissionChain
  #fieldManager: FieldManager | AsyncFieldManager | undefined

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

  /** What describes the objects that come and go here: the resource, or a subresource with a kind of its own. */
  get #shape(): Pick<Resource, 'kind' | 'codec'> {
    const { kind, codec } = this.#sub ?? {}
    return kind ? { kind, codec: codec ?? this.resource.codec } : this.resource
  }

  get #sub(): Subresource | undefined {
    return this.subresource === '' ? undefined : this.resource.subresources[this.subresource]
  }

  /** Whether what comes and goes here has a Go type, whose order of fields errors follow. */
  get hasGoType(): boolean {
    return this.resource.origin.hasGoTypes || this.#sub?.kind !== undefined
  }

  /** Why nothing can be applied here. */
  get applyProblems(): Subresource['applyProblems'] {
    return this.#sub?.applyProblems
  }

  /** The schema of the kind that this endpoint speaks. */
  get schema(): KindFacts['schema'] {
    return this.#shape.kind.schema
  }

  /** An object as clients see it. */
  normalize(object: MutableObject): MutableObject {
    return this.#shape.codec.toClientForm(object)
  }

  /** Treats what a patch made like a decoded object. */
  recheck(object: MutableObject, options: RecheckOptions): Rechecked {
    return this.#shape.codec.recheck(object, options)
  }

  /** An object as this endpoint shows it, with the managed fields that belong to what is shown. */
  show(object: MutableObject): MutableObject {
    const view = this.#sub?.view
    if (!view) return object
    const shown = view.show(object)
    const managedFields = view.managedFields?.(object)
    if (managedFields) shown.metadata.managedFields = managedFields
    return shown
  }

  /** An object as validating admission sees it: as {@link Endpoint.show}, without managed fields of what is only a view. */
  showForReview(object: MutableObject): MutableObject {
    return this.#sub?.view?.show(object) ?? object
  }

  /** Changes a stored object by changing what this endpoint shows of it. */
  async change(
    stored: MutableObject | undefined,
    change: (shown: MutableObject | undefined) => Promise<MutableObject>,
  ): Promise<MutableObject> {
    const view = this.#sub?.view
    if (!view || !stored) return change(stored)
    const after = await change(this.show(stored))
    const next = deepCopy(stored)
    if (after.metadata.uid && after.metadata.uid !== stored.metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${after.metadata.uid}, UID in object meta: ${stored.metadata.uid}`
      const { group, resource } = this.groupResource
      throw newConflict({ group, resource: `${resource}/${this.subresource}` }, stored.metadata.name ?? '', why)
    }
    if (after.metadata.resourceVersion) next.metadata.resourceVersion = after.metadata.resourceVersion
    else delete next.metadata.resourceVersion
    view.put(next, after)
    return next
  }

  /**
   * Tracks who owns which field; made when the first write comes, because it reads the schema. Only kinds that a webhook converts have
   * to be waited for.
   */
  get fieldManager(): FieldManager | AsyncFieldManager {
    if (!this.#fieldManager) {
      const { kind, codec } = this.#shape
      const { schema } = this
      // What a view shows is of another kind, with neither other versions nor fields that are reset.
      const own = kind === this.resource.kind
      const fields = own ? this.resource.conversion.fields : undefined
      const options: FieldManagerOptions = {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        subresource: this.subresource,
        ...(codec.empty ? { emptyObject: codec.empty() } : {}),
        schemaFor: (apiVersion) => (apiVersion === kind.apiVersion ? schema : undefined),
        ...(own && this.strategy.resetFields ? { resetFields: { [kind.apiVersion]: this.strategy.resetFields } } : {}),
        ...(fields ? { schemaFor: fields.schemaFor, convert: fields.convert } : {}),
      }
      const convert = fields?.convertAsync
      this.#fieldManager = convert ? createAsyncFieldManager({ ...options, convert }) : createFieldManager(options)
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
  ): MutableObject | Promise<MutableObject> {
    const manager = managerOrUserAgent(options.fieldManager, context.request.headers['user-agent'] ?? '')
    const now = this.registry.timestamp()
    return this.fieldManager.updateNoErrors(live, next, { manager, now }) as MutableObject | Promise<MutableObject>
  }

  /** Merges what a manager wants into an object (server-side apply). */
  apply(
    live: MutableObject | undefined,
    config: MutableObject,
    options: ApplyFieldsOptions,
  ): ApplyFieldsResult | Promise<ApplyFieldsResult> {
    return this.fieldManager.apply(live, config, options)
  }
}
