import { errorText, KubewrightError } from '@kubewright/base'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import type { Manifest } from '../manifests/manifest.ts'
import type { OperatorDescription } from '../manifests/operator-description.ts'
import type { ClusterSession } from './cluster-session.ts'
import { findInstalled, installedKinds, namespaceKind, withoutPresent } from './find-installed.ts'
import {
  applyDefinitions,
  lossOf,
  presentDefinitions,
  pruneDefinitions,
  removeDefinition,
  removeObjectsOf,
} from './install-definitions.ts'
import { rollBack } from './roll-back.ts'
import { waitForObjects } from './wait-for-objects.ts'

/** The options of {@link deployObjects}. */
export interface DeployOptions {
  /** Restores the earlier objects if an object cannot be applied or does not become ready in time. @default false */
  readonly rollback?: boolean | undefined
}

/**
 * Applies namespaces and CRDs first, then the other objects in the given order. Removes objects of an earlier deployment that are no
 * longer needed, and waits until the operator is available. With `rollback`, objects are removed only after that, so that a failed
 * deployment can be undone.
 */
export async function deployObjects(
  session: ClusterSession,
  operator: string,
  objects: readonly Manifest[],
  { rollback = false }: DeployOptions = {},
): Promise<void> {
  const definitions = objects.filter(isDefinition)
  const prune = async (): Promise<void> => {
    const installed = await findInstalled(session.client, operator, installedKinds, session.signal)
    for (const stale of withoutPresent(installed, objects)) await session.remove(stale, { wait: false })
    await pruneDefinitions(session, operator, definitions)
  }
  try {
    await applyAll(session, operator, objects)
    if (!rollback) await prune()
    if (session.waits) await waitForObjects(objects, session.waiting)
  } catch (error) {
    if (!rollback || session.isDryRun || session.signal.aborted) throw error
    await undo(session, error)
  }
  if (rollback) await prune()
  for (const { kind, metadata } of session.waits ? objects : []) {
    if (kind !== 'Deployment') continue
    const { name, namespace = 'default' } = metadata
    session.note(`${operator} is available: see its log with kubectl -n ${namespace} logs deployment/${name}`)
  }
  if (!session.isDryRun) await noteOldVersions(session, definitions)
}

async function applyAll(session: ClusterSession, operator: string, objects: readonly Manifest[]): Promise<void> {
  const namespaces = objects.filter(({ kind }) => kind === 'Namespace')
  for (const namespace of namespaces) await session.apply(namespace, operator)
  await applyDefinitions(session, operator, objects.filter(isDefinition))
  for (const object of objects) {
    if (!isDefinition(object) && !namespaces.includes(object)) await session.apply(object, operator)
  }
}

/** Rolls back a failed deployment, waits until the earlier operator is available again, and throws an error with the cause. */
async function undo(session: ClusterSession, cause: unknown): Promise<never> {
  session.note(`The deployment failed and is rolled back: ${errorText(cause)}`)
  const restored = await rollBack(session, session.applied)
  const isRestored = await waitForObjects(restored, session.waiting).then(
    () => true,
    (error: unknown) => {
      session.note(errorText(error))
      return false
    },
  )
  const state = isRestored ? 'the earlier objects are restored' : 'the earlier objects are restored but not ready'
  throw new KubewrightError('KW_DEPLOY', `The deployment failed and was rolled back: ${state}`, { cause })
}

/** Points out CRDs whose objects may be stored in an old version. */
async function noteOldVersions(session: ClusterSession, definitions: readonly Manifest[]): Promise<void> {
  for (const { metadata } of definitions) {
    const crd = await session.client.find(CustomResourceDefinition, metadata.name, { signal: session.signal })
    const stored = crd?.spec.versions.find(({ storage }) => storage)?.name
    const old = (crd?.status?.storedVersions ?? []).filter((version) => version !== stored)
    if (old.length > 0) {
      session.note(
        `${metadata.name} may have objects that are stored in ${old.join(', ')}: rewrite them with kubewright migrate`,
      )
    }
  }
}

/** The options of {@link undeployObjects}. */
export interface UndeployOptions {
  /** Keeps CRDs and their objects. @default false */
  readonly keepDefinitions?: boolean | undefined
}

/**
 * Removes all objects of the deployments of an operator. The objects of its CRDs go first, while the operator can still clean up after
 * them. Resolves to false if the user declined.
 */
export async function undeployObjects(
  session: ClusterSession,
  operator: OperatorDescription,
  { keepDefinitions = false }: UndeployOptions = {},
): Promise<boolean> {
  const { client, signal } = session
  const installed = await findInstalled(client, operator.name, installedKinds, signal)
  const namespaces = await findInstalled(client, operator.name, [namespaceKind], signal)
  const definitions = keepDefinitions ? [] : await presentDefinitions(session, operator)
  if (installed.length + definitions.length + namespaces.length === 0) {
    session.idle('nothing is deployed')
  }
  const isLoss = definitions.some(({ objects }) => objects > 0)
  if (isLoss && !(await session.confirm(lossOf(definitions)))) return false
  for (const definition of definitions) await removeObjectsOf(session, definition)
  for (const object of installed) await session.remove(object, { wait: false })
  for (const definition of definitions) await removeDefinition(session, definition)
  for (const namespace of namespaces) await session.remove(namespace)
  return true
}

/** Removes the CRDs of an operator, with their objects. Resolves to false if the user declined. */
export async function uninstallDefinitions(session: ClusterSession, operator: OperatorDescription): Promise<boolean> {
  const definitions = await presentDefinitions(session, operator)
  if (definitions.length === 0) session.idle('nothing is installed')
  const isLoss = definitions.some(({ objects }) => objects > 0)
  if (isLoss && !(await session.confirm(lossOf(definitions)))) return false
  for (const definition of definitions) await removeDefinition(session, definition)
  return true
}

const isDefinition = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition'
