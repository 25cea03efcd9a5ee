import { controllerOf, controllerRef, formatKey, isAlreadyExists, type KubeObject } from '@kubewright/api'
import { KubewrightError } from '@kubewright/base'
import { Secret } from '@kubewright/k8s'
import { RetryLater } from '../controller/reconcile-errors.ts'
import type { Context } from '../define/context.ts'

// The garbage collector is fast, and the deletion of the Secret reconciles the owner even sooner.
const waitForCollector = '5s'

/**
 * Returns the texts of a Secret that belongs to the owner, and generates those that it does not have yet. A text is returned
 * only after it is stored, and a stored text is never replaced: neither by a reconcile that continues after a crash, nor
 * with a stale cache, nor by a second replica. The controller must `own` Secret.
 *
 * @example
 * const { password } = await generateOnce(context, database, `${database.metadata.name}-login`, {
 *   password: () => randomBytes(24).toString('base64url'),
 * })
 */
export async function generateOnce<K extends string>(
  { client, signal }: Pick<Context, 'client' | 'signal'>,
  owner: KubeObject,
  name: string,
  generators: Readonly<Record<K, () => string>>,
): Promise<Readonly<Record<K, string>>> {
  const { namespace } = owner.metadata
  const keys = Object.keys(generators) as K[]
  const generate = (missing: readonly K[]): Record<string, string> =>
    Object.fromEntries(missing.map((key) => [key, Buffer.from(generators[key]()).toString('base64')]))
  let found = await client.find(Secret, { name, namespace })
  if (found === undefined) {
    const metadata = { name, namespace, ownerReferences: [controllerRef(owner)] }
    try {
      // Not an apply: that would replace the texts which another replica, or a lost request, has stored.
      found = await client.create(Secret({ metadata, data: generate(keys) }), { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      found = await client.get(Secret, { name, namespace }, { consistency: 'live', signal })
    }
  }
  checkOwner(found, owner)
  const missing = keys.filter((key) => found?.data?.[key] === undefined)
  if (missing.length > 0) {
    // The resourceVersion makes the server refuse the write if the object is stale. The conflict reconciles again.
    const { resourceVersion } = found.metadata
    const patch = { metadata: { resourceVersion }, data: generate(missing) }
    found = await client.patch(Secret, { name, namespace }, patch, { signal })
  }
  const texts = keys.map((key) => [key, Buffer.from(found?.data?.[key] ?? '', 'base64').toString()] as const)
  return Object.fromEntries(texts) as Record<K, string>
}

function checkOwner(secret: Secret, owner: KubeObject): void {
  const controller = controllerOf(secret)
  if (controller?.uid === owner.metadata.uid) return
  const what = `Secret ${formatKey(secret.metadata.name, secret.metadata.namespace)}`
  if (controller?.kind === owner.kind && controller.name === owner.metadata.name) {
    const message = `${what} belongs to an earlier ${owner.kind} with the same name: waiting for the garbage collector to delete it`
    throw new RetryLater(message, { requeueAfter: waitForCollector })
  }
  const whose =
    controller === undefined ? 'has no controller' : `is controlled by ${controller.kind} ${controller.name}`
  const message = `Cannot keep generated texts in ${what} as it ${whose}: choose another name, or delete it`
  throw new KubewrightError('KW_NOT_OUR_CHILD', message)
}
