import { isNotFound } from '@kubewright/api'
import type { Manifest } from '../manifests/manifest.ts'
import type { OperatorDescription } from '../manifests/operator-description.ts'
import type { ClusterSession } from './cluster-session.ts'
import { definitionKind, findInstalled, type InstalledObject, withoutPresent } from './find-installed.ts'
import { keyOf, kindOf } from './installed-object.ts'
import { type CountedDefinition, countObjects, objectsOf } from './remove-objects.ts'
import { waitForDefinition } from './wait-for-rollout.ts'

/** Applies CRDs, and waits until they are served. */
export async function applyDefinitions(
  session: ClusterSession,
  operator: string,
  definitions: readonly Manifest[],
): Promise<void> {
  for (const definition of definitions) {
    await session.apply(await withLocalConversion(session, definition), operator)
  }
  if (!session.waits) return
  for (const { metadata } of definitions) await waitForDefinition(metadata.name, session.waiting)
}

interface Converted {
  readonly spec: {
    readonly conversion?:
      | { readonly webhook?: { readonly clientConfig?: { readonly url?: string | undefined } | undefined } | undefined }
      | undefined
  }
}

/** A CRD that keeps the conversion of a development process while one is registered by its URL. */
async function withLocalConversion(session: ClusterSession, definition: Manifest): Promise<Manifest> {
  const spec = definition['spec'] as Converted['spec']
  if (spec.conversion === undefined) return definition
  const kind = await kindOf(session.client, definition, session.signal)
  const live = (await session.client.find(kind, keyOf(definition), { signal: session.signal })) as Converted | undefined
  const { conversion } = live?.spec ?? {}
  const url = conversion?.webhook?.clientConfig?.url
  if (url === undefined) return definition
  session.note(`${definition.metadata.name} is converted by a process at ${url}: its registration is kept`)
  return { ...definition, spec: { ...spec, conversion } }
}

/** Removes CRDs that the operator no longer has. One that has objects is kept unless the user confirms. */
export async function pruneDefinitions(
  session: ClusterSession,
  operator: string,
  definitions: readonly Manifest[],
): Promise<void> {
  const { client, signal } = session
  const found = await findInstalled(client, operator, [definitionKind], signal)
  for (const stale of withoutPresent(found, definitions)) {
    const counted = await countObjects(client, stale, signal)
    // The installation itself is complete, so the command must not fail if it cannot ask.
    const isConfirmed = counted.objects === 0 || (session.canAsk && (await session.confirm(lossOf([counted]))))
    if (isConfirmed) await removeDefinition(session, counted)
    else {
      session.keep(stale)
      session.note(`${stale.object.metadata.name} is no longer needed but has objects: --yes removes it with them`)
    }
  }
}

/** The CRDs of an operator that exist in the cluster: its own, and those of earlier installations. */
export async function presentDefinitions(
  session: ClusterSession,
  { name, resources }: OperatorDescription,
): Promise<CountedDefinition[]> {
  const { client, signal } = session
  const kind = await client.kind(
    { group: 'apiextensions.k8s.io', version: 'v1', kind: definitionKind.kind },
    { signal },
  )
  const found = new Map<string, InstalledObject>()
  for (const installed of await findInstalled(client, name, [definitionKind], signal)) {
    found.set(installed.object.metadata.name, installed)
  }
  for (const { crd } of resources) {
    const object = await client.find(kind, crd.metadata.name, { signal })
    if (object !== undefined) found.set(object.metadata.name, { kind, object })
  }
  return Promise.all([...found.values()].map((definition) => countObjects(client, definition, signal)))
}

/** Describes the objects that are deleted with CRDs. */
export function lossOf(definitions: readonly CountedDefinition[]): string {
  const parts = definitions
    .filter(({ objects }) => objects > 0)
    .map(({ objects, object }) => `${objects} ${objects === 1 ? 'object' : 'objects'} of ${object.metadata.name}`)
  return parts.join(', ')
}

const heldFix = `the operator must clean up first: run it with kubewright run, or remove the finalizers by hand`

/** Removes the objects of a CRD while the operator can still clean up after them. */
export async function removeObjectsOf(session: ClusterSession, definition: CountedDefinition): Promise<void> {
  const objects = await objectsOf(session.client, definition, session.signal)
  // Delete all before waiting for one, because they may depend on each other.
  if (!session.isDryRun) {
    await Promise.all(
      objects.map(({ kind, object }) =>
        session.client.delete(kind, object.metadata, { signal: session.signal }).catch(ignoreMissing),
      ),
    )
  }
  for (const object of objects) await session.remove(object, { fix: heldFix })
}

/** Removes a CRD with all its objects. */
export async function removeDefinition(session: ClusterSession, definition: CountedDefinition): Promise<void> {
  await session.remove(definition, { fix: heldFix })
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}
