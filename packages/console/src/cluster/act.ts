import { isApiError } from '@kubewright/api'
import { CaughtError, type Clock, isJsonObject, unifiedDiff } from '@kubewright/base'
import type { RestClient } from '@kubewright/client'
import type { Action, Conflict, CreateAction, EditAction, PageResponse } from '../wire/messages.ts'
import type { KindInfo, ObjectName } from '../wire/names.ts'
import { evict, evictPodsOf } from './act-on-node.ts'
import { changedFields, editText, parseEdited } from './edit-text.ts'
import { readFormSchema } from './form-schema.ts'
import type { Forwards } from './forwards.ts'
import type { Json } from './json.ts'
import { problemText } from './problem-text.ts'
import { collectionPath, objectPath } from './resource-url.ts'
import type { Terminals } from './terminals.ts'
import { whoMay } from './who-may.ts'

/** The field manager of all writes of the console. */
const fieldManager = 'kubewright-console'
const mergePatch = 'application/merge-patch+json'
const applyPatch = 'application/apply-patch+yaml'

/** The connection that actions use. It has the user's own permissions. */
export interface ActContext {
  readonly rest: RestClient
  readonly clock: Clock
  /** Runs commands in containers. @default none run */
  readonly terminals?: Terminals | undefined
  /** Forwards ports. @default none are forwarded */
  readonly forwards?: Forwards | undefined
}

/** Performs an action. A failure becomes the error of the response. */
export async function act(action: Action, context: ActContext): Promise<PageResponse> {
  return answer(() => perform(action, context))
}

/** Turns a failure into the error of the response, with the fields that caused it. */
async function answer(work: () => Promise<PageResponse>): Promise<PageResponse> {
  try {
    return await work()
  } catch (error) {
    return { error: problemText(error), conflicts: causesOf(error, 409), invalid: causesOf(error, 422) }
  }
}

/** The subjects that may use each verb on an object. */
export async function accessTo(object: ObjectName, { rest }: ActContext): Promise<PageResponse> {
  return answer(async () => ({ access: await whoMay(object, rest) }))
}

/** The YAML that an edit of an object starts from. */
export async function sourceOf(object: ObjectName, { rest }: ActContext): Promise<PageResponse> {
  return answer(async () => {
    const yaml = editText(await read(object, rest))
    return { yaml, json: JSON.stringify(parseEdited(yaml)) }
  })
}

/** The schema of a kind for a form. */
export async function schemaOf(kind: KindInfo | undefined, { rest }: ActContext): Promise<PageResponse> {
  return answer(async () => {
    if (kind === undefined) throw new CaughtError('The cluster does not serve this kind: reload the page')
    return { schema: await readFormSchema(kind, rest) }
  })
}

async function perform(action: Action, { rest, clock, terminals, forwards }: ActContext): Promise<PageResponse> {
  if (action.type === 'create') return create(action, rest)
  if (action.type === 'stopForward') {
    forwards?.stop(action.id)
    return {}
  }
  if (action.type === 'input' || action.type === 'endTerminal') {
    if (action.type === 'input') await terminals?.input(action.terminal, action.text)
    else terminals?.stop(action.terminal)
    return {}
  }
  const { object } = action
  switch (action.type) {
    case 'delete': {
      const { propagation: propagationPolicy, uid } = action
      const body = JSON.stringify({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy,
        preconditions: { uid },
      })
      await rest.json({ method: 'DELETE', path: objectPath(object), body })
      return {}
    }
    case 'scale':
      await patch(rest, objectPath(object, 'scale'), { spec: { replicas: action.replicas } })
      return {}
    case 'label':
      await patch(rest, objectPath(object), { metadata: { labels: action.labels } })
      return {}
    case 'restart': {
      // As in kubectl/pkg/polymorphichelpers/objectrestarter.go: a new annotation makes the controller replace the pods.
      const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date(clock.now()).toISOString() }
      await patch(rest, objectPath(object), { spec: { template: { metadata: { annotations } } } })
      return {}
    }
    case 'forward':
      await forwards?.start(object, action.port, action.localPort)
      return {}
    case 'exec':
      return { terminal: await terminals?.start(object, action.container, action.command) }
    case 'evict':
      await evict(object.namespace ?? '', object.name, rest)
      return {}
    case 'cordon':
    case 'uncordon':
    case 'drain':
      await patch(rest, objectPath(object), { spec: { unschedulable: action.type !== 'uncordon' } })
      return action.type === 'drain' ? evictPodsOf(object.name, rest) : {}
    case 'edit':
      return edit(action, rest)
  }
}

async function create({ resource, namespace, yaml, dryRun }: CreateAction, rest: RestClient): Promise<PageResponse> {
  const query = parameters({ fieldManager, fieldValidation: 'Strict', dryRun: dryRun ? 'All' : undefined })
  const body = JSON.stringify(parseEdited(yaml))
  await rest.json({ method: 'POST', path: collectionPath(resource, namespace), query, body })
  return {}
}

async function edit(action: EditAction, rest: RestClient): Promise<PageResponse> {
  const { object, mode, force, dryRun } = action
  const edited = parseEdited(action.yaml)
  const live = await read(object, rest)
  const after = mode === 'apply' ? await apply() : await replace()
  return { diff: unifiedDiff(editText(live).split('\n'), editText(after).split('\n')) }

  async function apply(): Promise<Json> {
    const body = JSON.stringify(changedFields(parseEdited(action.source), edited))
    const query = parameters({ fieldManager, force: force ? 'true' : 'false', dryRun: dryRun ? 'All' : undefined })
    return jsonOf(await rest.json({ method: 'PATCH', path: objectPath(object), query, body, contentType: applyPatch }))
  }

  async function replace(): Promise<Json> {
    // The live version is replaced only if the object is unchanged since the edit began, unless forced.
    if (!force && editText(live) !== action.source)
      return Promise.reject(
        new CaughtError('The object has changed since the edit began: start the edit again, or force it'),
      )
    const { metadata, status } = live
    const merged = {
      ...edited,
      ...(status === undefined ? {} : { status }),
      metadata: { ...(isJsonObject(edited['metadata']) ? edited['metadata'] : {}), ...identityOf(metadata) },
    }
    const query = parameters({ fieldManager, dryRun: dryRun ? 'All' : undefined })
    return jsonOf(await rest.json({ method: 'PUT', path: objectPath(object), query, body: JSON.stringify(merged) }))
  }
}

/** The metadata that an update must repeat, so that it replaces exactly the object that was compared. */
function identityOf(metadata: unknown): Json {
  const { uid, resourceVersion } = isJsonObject(metadata) ? metadata : {}
  return { uid, resourceVersion }
}

async function patch(rest: RestClient, path: string, change: Json): Promise<void> {
  const query = parameters({ fieldManager })
  await rest.json({ method: 'PATCH', path, query, body: JSON.stringify(change), contentType: mergePatch })
}

async function read(object: ObjectName, rest: RestClient): Promise<Json> {
  return jsonOf(await rest.json({ method: 'GET', path: objectPath(object) }))
}

function jsonOf(value: unknown): Json {
  if (!isJsonObject(value)) throw new TypeError('The response of the API server is not an object')
  return value
}

/** The causes of an error with this status. */
function causesOf(error: unknown, status: number): readonly Conflict[] | undefined {
  if (!isApiError(error) || error.statusCode !== status) return undefined
  return error.details.causes?.map(({ field = '', message = '' }) => ({ field, message }))
}

function parameters(values: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value)
  return query
}
