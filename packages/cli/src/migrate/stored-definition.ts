import type { Infer } from '@kubewright/api'
import { KubewrightError } from '@kubewright/base'
import { type ApiClient, type DynamicKind, dynamicKind, retryOnConflict } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'

/** A CRD and the versions in which its objects are stored. */
export interface StoredDefinition {
  readonly name: string
  /** The kind of the objects, in a served version: the storage version if it is served. */
  readonly kind: DynamicKind
  /** The version in which objects are written. */
  readonly storageVersion: string
  /** The other versions in which objects may be stored. */
  readonly oldVersions: readonly string[]
}

/** Describes how the objects of a CRD are stored. Throws if no version is served. */
export function storedDefinition(crd: Infer<typeof CustomResourceDefinition>): StoredDefinition {
  const { metadata, spec, status } = crd
  const { group, scope, names, versions } = spec
  const storageVersion = storageVersionOf(crd)
  const served = versions.filter((version) => version.served)
  const version = served.find(({ storage }) => storage) ?? served[0]
  if (version === undefined) {
    throw new KubewrightError(
      'KW_MIGRATE',
      `${metadata.name} serves no version, so its objects cannot be read: serve one of its versions`,
    )
  }
  const { kind, plural } = names
  return {
    name: metadata.name,
    // The server has validated the scope.
    kind: dynamicKind({ group, version: version.name, kind, plural, scope: scope as 'Namespaced' | 'Cluster' }),
    storageVersion,
    oldVersions: (status?.storedVersions ?? []).filter((stored) => stored !== storageVersion),
  }
}

function storageVersionOf({ spec }: Infer<typeof CustomResourceDefinition>): string {
  // The server guarantees exactly one.
  return spec.versions.find(({ storage }) => storage)!.name
}

/**
 * Removes all versions but the storage version from `status.storedVersions`. Every object must have been rewritten. Throws
 * if the storage version has changed meanwhile, because objects may then be stored in another version again.
 */
export async function dropOldVersions(
  client: ApiClient,
  { name, storageVersion }: StoredDefinition,
  signal: AbortSignal,
): Promise<void> {
  await retryOnConflict(
    async () => {
      const crd = await client.get(CustomResourceDefinition, name, { signal })
      const current = storageVersionOf(crd)
      if (current !== storageVersion) {
        throw new KubewrightError(
          'KW_MIGRATE',
          `The storage version of ${name} changed from ${storageVersion} to ${current} during the migration: run it again`,
        )
      }
      const { resourceVersion } = crd.metadata
      const patch = { metadata: { resourceVersion }, status: { storedVersions: [storageVersion] } }
      await client.subresource(CustomResourceDefinition, 'status').patch(name, patch, { signal })
    },
    { signal },
  )
}
