import { uuid } from '@kubewright/base'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { ObjectRegistry } from '../registry/object-registry.ts'
import { markReadable } from '../resource/read-problem.ts'
import type { Resource } from '../resource/resource.ts'
import { bootstrapImage } from './generated/bootstrap-image.ts'

/** The parts of the registry that {@link seedObjects} uses. */
export type SeedRegistry = Pick<ObjectRegistry, 'store' | 'keyOf' | 'timestamp' | 'random'>

/** The placeholders of a uid and of the current time in the image. */
export const uidPlaceholder = '\u0001'
export const timePlaceholder = '\u0002'

/**
 * Creates objects of a new cluster from their prepared stored form, which takes a small part of the time of the write pipeline. Returns the
 * names of the created objects. The caller creates the others by the pipeline: objects that the image lacks, that exist already, or whose write
 * failed. The image is what the pipeline stores, except for uids and times; a test compares them.
 *
 * @param namespace of all objects; empty for cluster-scoped ones
 */
export async function seedObjects(
  registry: SeedRegistry,
  resource: Resource,
  names: readonly string[],
  namespace = '',
): Promise<ReadonlySet<string>> {
  const created = new Set<string>()
  // The image has the objects of the default release.
  if (resource.release !== defaultServedRelease) return created
  const templates = bootstrapImage[`${resource.kind.apiVersion} ${resource.kind.plural}`] ?? {}
  const nameInImage = (name: string): string => (namespace === '' ? name : `${namespace}/${name}`)
  const known = names.filter((name) => Object.hasOwn(templates, nameInImage(name)))
  const [first] = known
  // On a store with objects, such as that of an earlier run, the attempts would all fail.
  if (first === undefined || (await registry.store.get(registry.keyOf(resource, namespace, first))).entry)
    return created
  const now = registry.timestamp()
  await Promise.all(
    known.map(async (name) => {
      const text = templates[nameInImage(name)]!.replace(uidPlaceholder, uuid(registry.random))
      const raw = Buffer.from(text.replaceAll(timePlaceholder, now))
      markReadable(raw)
      try {
        const { ok } = await registry.store.put(registry.keyOf(resource, namespace, name), raw, 0)
        if (ok) created.add(name)
      } catch {
        // The write pipeline tries again and reports its error.
      }
    }),
  )
  return created
}
