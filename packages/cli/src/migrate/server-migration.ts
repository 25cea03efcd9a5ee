import { isConditionTrue } from '@kubewright/api'
import { type Clock, type Duration, formatDuration, KubewrightError, withDeadline } from '@kubewright/base'
import { type ApiClient, type DynamicKind, type DynamicObject, NoMatchError } from '@kubewright/client'
import type { StoredDefinition } from './stored-definition.ts'

// The newest first.
const versions = ['v1', 'v1beta1', 'v1alpha1']
// The controller manager sets status.resourceVersion at once, and a condition when it starts.
const handledTimeout: Duration = '20s'
const startedTimeout: Duration = '2m'
const pollMillis = 500

/** The options of {@link migrateOnServer}. */
export interface ServerMigrationOptions {
  readonly client: ApiClient
  readonly clock: Clock
  /** How long to wait until the migration is complete. */
  readonly timeout: Duration
  readonly signal: AbortSignal
  /**
   * Writes an object of the CRD. The controller starts when its watch has seen the resource version at which it
   * accepted the migration, which takes long if no object changes.
   */
  readonly nudge: () => Promise<void>
}

/** The StorageVersionMigration kind of the cluster; undefined if it serves none. */
export async function migrationKind(client: ApiClient, signal: AbortSignal): Promise<DynamicKind | undefined> {
  for (const version of versions) {
    try {
      const name = { group: 'storagemigration.k8s.io', version, kind: 'StorageVersionMigration' }
      return await client.kind(name, { signal })
    } catch (error) {
      if (!(error instanceof NoMatchError)) throw error
    }
  }
  return undefined
}

/**
 * Migrates the objects of a CRD with a StorageVersionMigration, which it deletes afterwards. Resolves to undefined when all
 * objects are rewritten, and to the reason if the server did not migrate them.
 */
export async function migrateOnServer(
  definition: StoredDefinition,
  kind: DynamicKind,
  { client, clock, timeout, signal, nudge }: ServerMigrationOptions,
): Promise<string | undefined> {
  const { group, plural: resource, version } = definition.kind
  const draft = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { generateName: `kubewright-${definition.name.slice(0, 40)}-` },
    // Until v1beta1, the resource had a version, which the migration ignored.
    spec: { resource: kind.version === 'v1alpha1' ? { group, version, resource } : { group, resource } },
  }
  const { name } = ((await client.create(draft as never, { signal })) as DynamicObject).metadata
  const poll = async (isDone: (found: DynamicObject) => boolean, inner: AbortSignal): Promise<DynamicObject> => {
    for (;;) {
      const found = await client.get(kind, name, { signal: inner })
      if (isDone(found)) return found
      await clock.sleep(pollMillis, { signal: inner })
    }
  }
  const reach = (limit: Duration, isDone: (found: DynamicObject) => boolean): Promise<DynamicObject> =>
    withDeadline(clock, limit, 'the migration', (inner) => poll(isDone, inner), { signal })
  let problem = `no controller handled the StorageVersionMigration within ${formatDuration(handledTimeout)}`
  try {
    await reach(handledTimeout, isHandled)
    await nudge()
    problem = `the StorageVersionMigration did not start within ${formatDuration(startedTimeout)}`
    await reach(startedTimeout, (found) => conditionsOf(found).length > 0)
    problem = `the StorageVersionMigration is not complete after ${formatDuration(timeout)}`
    const ended = await reach(timeout, isEnded)
    return isTrue(ended, 'Succeeded') ? undefined : `the StorageVersionMigration failed${messageOf(ended)}`
  } catch (error) {
    if (error instanceof KubewrightError && error.code === 'KW_DEADLINE_EXCEEDED') return problem
    throw error
  } finally {
    // Not with the signal: the object would stay behind after an interruption.
    await client.delete(kind, name).catch(() => undefined)
  }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string | undefined
}

function conditionsOf({ status }: DynamicObject): readonly Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: readonly Condition[] | undefined }
  return conditions ?? []
}

function isHandled({ status }: DynamicObject): boolean {
  return status !== undefined && Object.keys(status as object).length > 0
}

const isTrue = (object: DynamicObject, type: string): boolean => isConditionTrue(object as never, type)
const isEnded = (object: DynamicObject): boolean => isTrue(object, 'Succeeded') || isTrue(object, 'Failed')

function messageOf(object: DynamicObject): string {
  const { message = '' } = conditionsOf(object).find(({ type }) => type === 'Failed') ?? {}
  return message === '' ? '' : `: ${message}`
}
