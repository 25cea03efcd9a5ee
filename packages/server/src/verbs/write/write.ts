import { type ApiResponse, isAlreadyExists, newBadRequest, newConflict, newNotFound } from '@kubewright/api'
import { type Awaitable, deepCopy, turnAfter } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionChain } from '../../admission/admission.ts'
import { matchNamespace } from '../../registry/match-namespace.ts'
import type { WriteOutcome } from '../../registry/object-registry.ts'
import { prepareCreate, prepareUpdate } from '../../registry/prepare-write.ts'
import { resourceVersionOf } from '../../registry/resource-version.ts'
import type { WriteScope } from '../../registry/write-scope.ts'
import { andThen } from '../../request/awaitable.ts'
import { mediaTypeOf } from '../../request/body.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { optionsObject, writeOptions } from '../../request/write-options.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { Endpoint } from '../endpoint.ts'
import { negotiateObject } from '../negotiation.ts'
import { presentObject, presentUnstored } from '../present.ts'
import { showObject, showWithFields, takeShown } from '../subresource-view.ts'
import { applyType, type Change, readPatch, requirePatchType, trackedBy } from './patches.ts'
import { readObject, requireObjectType } from './read-object.ts'
import { uniqueOwners } from './unique-owners.ts'

// The write pipeline. Create, update, patch and apply, and the writes of the server itself, all pass through these steps:
//
//   1. negotiate the representation of the response
//   2. read the options from the query
//   3. read the body: an object, or a patch that becomes a Change
//   ┌ an attempt:
//   │  4. load the newest version of the object
//   │  5. compute the next version from it and record who owns its fields (Change: replace, patch or apply)
//   │  6. run mutating admission
//   │  7. prepare and validate by the strategy, which may reserve resources such as addresses
//   │  8. authorize the create that an update or an apply turned out to be
//   │  9. run validating admission
//   │ 10. convert, encode and commit by compare-and-swap
//   └ when another write came first: release the reservations, start again at step 4
//  11. present the stored object
//
// Guarantees. Nothing is visible to other requests before step 10, which stores the whole object or nothing. Every failure in steps 8
// to 10 releases what step 7 reserved. Between the steps, a request on a large object lets others run. Steps 5 to 9 run once per attempt and see the same pair of old and new object; a change, an
// admission plugin and a strategy must therefore tolerate running several times for one request. A dry run goes through all steps and
// stores nothing. A request that has exceeded its time is answered with 504 and stores nothing: the deadline is checked before an attempt,
// before step 7, before step 8 and before step 10. A create starts at step 5; when its generated name is taken, it starts again at step 7 with another name.
//
// Most steps have nothing to wait for and return no promise: awaiting each of them anyway took a tenth of a create.

/** How often a create draws a name from generateName when the name is taken. */
const nameAttempts = 8

/** A write on its way through the pipeline. */
export interface Write {
  readonly endpoint: Endpoint
  readonly scope: WriteScope
  /** The plugins that see the write. */
  readonly admission: AdmissionChain
  /** The name of the object; empty when the server generates it. */
  readonly name: string
}

/** When {@link writeObject} may create or replace an object. */
export interface WriteConditions {
  /** Whether an object that does not exist is created, even if its strategy does not allow creation by update. @default false */
  readonly allowCreate?: boolean | undefined
  /** The uid that the object must have. */
  readonly uid?: string | undefined
  /**
   * Whether the result of the change shares nothing with the current object but its managed fields. The change and admission then see
   * the current object itself instead of a copy. @default false
   */
  readonly isSeparate?: boolean | undefined
}

/** Handles POST. */
export async function create(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { resource } = endpoint
  const representation = negotiateObject(context, endpoint)
  requireObjectType(context)
  const options = writeOptions(context.request.query, 'CreateOptions')
  const body = await readObject(context, resource, options)

  const write = writeOf(endpoint, context, options.dryRun, body.metadata.name ?? '')
  dropSystemFields(body)
  matchNamespace(body, write.scope.namespace)
  uniqueOwners(body, context, false)
  const decoded = turnAfterStep(write)
  if (decoded) await decoded
  const update = endpoint.fields.update(undefined, body, trackedBy(endpoint, context, options))
  const tracked = update instanceof Promise ? await update : update
  const recorded = turnAfterStep(write)
  if (recorded) await recorded
  if (resource.virtual) {
    const admitted = await mutate(write, tracked, undefined)
    const answer = await resource.virtual(context, admitted, async () => validate(write, admitted, undefined))
    return presentUnstored(201, answer, resource, representation)
  }
  return presentObject(201, endpoint, await createObject(write, tracked), representation)
}

/** Handles PUT: replaces the object, or the part of it that a subresource shows. */
export async function update(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const representation = negotiateObject(context, endpoint)
  const options = writeOptions(context.request.query, 'UpdateOptions')
  const body = await readObject(context, endpoint, options)

  const { name } = context.info
  const write = writeOf(endpoint, context, options.dryRun, name)
  matchNamespace(body, write.scope.namespace)
  requireName(body, name)
  uniqueOwners(body, context, false)
  const replace: Change = (current) =>
    endpoint.fields.update(current, deepCopy(body), trackedBy(endpoint, context, options))
  const outcome = await writeObject(write, replace, { uid: body.metadata.uid || undefined, isSeparate: true })
  return presentObject(outcome.created ? 201 : 200, endpoint, outcome.object, representation)
}

/** Handles PATCH of all four media types, server-side apply among them. */
export async function patch(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const type = mediaTypeOf(context)
  const { name } = context.info
  requirePatchType(endpoint.resource, type)
  if (name === '') throw newBadRequest('name must be provided')
  const representation = negotiateObject(context, endpoint)
  const { options, change } = await readPatch(endpoint, context, type)

  const write = writeOf(endpoint, context, options.dryRun, name)
  const patched: Change = async (current) => {
    const next = await change(current)
    if (!current && next.metadata.uid) {
      const why = `uid mismatch: the provided object specified uid ${next.metadata.uid}, and no existing object was found`
      throw newConflict(endpoint.groupResource, name, why)
    }
    matchNamespace(next, write.scope.namespace)
    requireName(next, name)
    return next
  }
  const creates = endpoint.subresource === '' || (endpoint.strategy.allowCreateOnApply ?? false)
  const allowCreate = type === applyType && creates
  // Every patch ends with a recheck, whose result is separate.
  const outcome = await writeObject(write, patched, { allowCreate, isSeparate: true })
  return presentObject(outcome.created ? 201 : 200, endpoint, outcome.object, representation)
}

/** A write of a request through an endpoint. */
export function writeOf(
  endpoint: Endpoint,
  context: RequestContext,
  dryRun: boolean,
  name: string,
  admission: AdmissionChain = endpoint.admission,
): Write {
  const { resource, subresource, strategy } = endpoint
  const namespace = resource.kind.scope === 'Namespaced' ? context.info.namespace : ''
  return { endpoint, admission, name, scope: { context, resource, namespace, subresource, strategy, dryRun } }
}

/** Creates an object: steps 6 to 10. `object` becomes the pipeline's. Rejects with AlreadyExists when the name is taken. */
export async function createObject(write: Write, object: MutableObject): Promise<StoredObject> {
  const mutated = mutate(write, object, undefined)
  const admitted = mutated instanceof Promise ? await mutated : mutated
  if (admitted.metadata.name || !admitted.metadata.generateName) return insert(write, admitted)
  for (let attempt = 1; ; attempt++) {
    try {
      return await insert(write, deepCopy(admitted))
    } catch (error) {
      if (!isAlreadyExists(error) || attempt === nameAttempts) throw error
    }
  }
}

/** Replaces an object by what `change` makes of its newest version: steps 4 to 10, until no other write has come in between. */
export async function writeObject(
  write: Write,
  change: Change,
  conditions: WriteConditions = {},
): Promise<WriteOutcome> {
  const { endpoint, scope, name } = write
  for (;;) {
    scope.context.deadline?.check()
    const existing = await endpoint.registry.find(scope.resource, scope.namespace, name)
    const outcome = existing
      ? await replaceExisting(write, change, existing, conditions)
      : await createMissing(write, change, conditions)
    if (outcome) return outcome
  }
}

/** One attempt to replace an object; undefined when another write came first. */
async function replaceExisting(
  write: Write,
  change: Change,
  existing: StoredObject,
  { uid, isSeparate = false }: WriteConditions,
): Promise<WriteOutcome | undefined> {
  const { endpoint, scope, name } = write
  const { registry } = endpoint
  const loaded = registry.load(scope.resource, existing)
  const old = loaded instanceof Promise ? await loaded : loaded
  if (uid !== undefined) registry.requireUid(scope, name, uid, old.metadata.uid)
  // The next object may contain parts of what the change receives, and the strategy compares it with `old`.
  const shown = showWithFields(endpoint, isSeparate ? old : deepCopy(old))
  const changed = change(shown)
  const next = changed instanceof Promise ? await changed : changed
  const size = Math.max(existing.itemSize, scope.context.bodyBytes ?? 0)
  const computed = turnAfterStep(write, size)
  if (computed) await computed
  const mutated = mutate(write, next, shown)
  const admitted = mutated instanceof Promise ? await mutated : mutated
  const object = takeShown(endpoint, old, admitted)
  const mutatedTurn = turnAfterStep(write, size)
  if (mutatedTurn) await mutatedTurn
  const prepared = prepareUpdate(registry, scope, existing, object, old)
  const undo = prepared instanceof Promise ? await prepared : prepared
  try {
    const prepares = turnAfterStep(write, size)
    if (prepares) await prepares
    const validated = validate(write, object, old)
    if (validated) await validated
    const validates = turnAfterStep(write, size)
    if (validates) await validates
    const outcome = await registry.replace(scope, existing, object, old)
    if (outcome) return outcome
  } catch (error) {
    await undo(error)
    throw error
  }
  await undo()
  return undefined
}

/** One attempt to create an object by an update or an apply; undefined when another request created it first. */
async function createMissing(
  write: Write,
  change: Change,
  { uid, allowCreate }: WriteConditions,
): Promise<WriteOutcome | undefined> {
  const { endpoint, scope, name } = write
  const { registry, groupResource } = endpoint
  if (!scope.strategy.allowCreateOnUpdate && !allowCreate) throw newNotFound(groupResource, name)
  if (uid !== undefined) registry.requireUid(scope, name, uid, undefined)
  const object = await mutate(write, await change(undefined), undefined)
  // Any number is accepted, and ignored.
  resourceVersionOf(object)
  try {
    return { object: await insert(write, object, true), created: true }
  } catch (error) {
    if (scope.dryRun || !isAlreadyExists(error)) throw error
    // The name of an object that is being deleted may be free again: only an object that exists can be replaced.
    if (!(await registry.find(scope.resource, scope.namespace, name))) throw error
    return undefined
  }
}

/** Prepares, validates and stores a new object: steps 7 to 10. */
async function insert(write: Write, object: MutableObject, byUpdate = false): Promise<StoredObject> {
  const { endpoint, scope } = write
  const mutates = turnAfterStep(write)
  if (mutates) await mutates
  const prepared = prepareCreate(endpoint.registry, scope, object)
  const undo = prepared instanceof Promise ? await prepared : prepared
  try {
    const prepares = turnAfterStep(write)
    if (prepares) await prepares
    // The permission to update or patch does not include the permission to create.
    if (byUpdate) await scope.context.authorize('create')
    const validated = validate(write, object, undefined)
    if (validated) await validated
    const validates = turnAfterStep(write)
    if (validates) await validates
    return await endpoint.registry.insert(scope, object, byUpdate)
  } catch (error) {
    await undo(error)
    throw error
  }
}

/**
 * Ends a step of the pipeline: throws a Timeout error when the time of the request has passed, and returns the turn of the event loop to
 * await after a step that worked on a large object.
 */
function turnAfterStep(
  { scope: { context } }: Write,
  bytes: number = context.bodyBytes ?? 0,
): Promise<void> | undefined {
  context.deadline?.check()
  return turnAfter(bytes)
}

/** Runs mutating admission. The objects are those that the endpoint shows, with their managed fields. */
function mutate(write: Write, object: MutableObject, old: MutableObject | undefined): Awaitable<MutableObject> {
  const attributes = attributesOf(write, object, old)
  return andThen(write.admission.mutate(attributes), () => {
    const admitted = attributes.object!
    uniqueOwners(admitted, write.scope.context, true)
    return admitted
  })
}

/** Runs validating admission. The objects are the stored ones; plugins see what the endpoint shows of them. */
function validate(write: Write, object: MutableObject, old: MutableObject | undefined): Awaitable<void> {
  const { endpoint } = write
  return write.admission.validate(attributesOf(write, showObject(endpoint, object), old && showObject(endpoint, old)))
}

function attributesOf(write: Write, object: MutableObject, old: MutableObject | undefined): AdmissionAttributes {
  const { context, resource, subresource, namespace, dryRun } = write.scope
  return {
    context,
    resource,
    subresource,
    operation: old ? 'UPDATE' : 'CREATE',
    namespace,
    name: write.name || (object.metadata.name ?? ''),
    dryRun,
    object,
    old,
    options: optionsObject(old ? 'UpdateOptions' : 'CreateOptions', context.request.query),
  }
}

/** Drops fields that only the server sets from a new object. */
function dropSystemFields({ metadata }: MutableObject): void {
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata['selfLink']
}

/** Throws a BadRequest unless the object has the name of the path. */
function requireName(object: MutableObject, name: string): void {
  const given = object.metadata.name ?? ''
  if (given === '') {
    throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw newBadRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
}
