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
import { waitForRollout } from './wait-for-rollout.ts'

/**
 * Applies namespaces and CRDs first, then the other objects in the given order. Removes objects of an earlier deployment that are no
 * longer needed, and waits until the operator is available.
 */
export async function deployObjects(
  session: ClusterSession,
  operator: string,
  objects: readonly Manifest[],
): Promise<void> {
  const { client, signal } = session
  const definitions = objects.filter(isDefinition)
  const namespaces = objects.filter(({ kind }) => kind === 'Namespace')
  for (const namespace of namespaces) await session.apply(namespace, operator)
  await applyDefinitions(session, operator, definitions)
  for (const object of objects) {
    if (!isDefinition(object) && !namespaces.includes(object)) await session.apply(object, operator)
  }
  const installed = await findInstalled(client, operator, installedKinds, signal)
  for (const stale of withoutPresent(installed, objects)) await session.remove(stale, { wait: false })
  await pruneDefinitions(session, operator, definitions)
  for (const { kind, metadata } of session.waits ? objects : []) {
    if (kind !== 'Deployment') continue
    const { name, namespace = 'default' } = metadata
    await waitForRollout({ name, namespace }, session.waiting)
    session.note(`${operator} is available: see its log with kubectl -n ${namespace} logs deployment/${name}`)
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
