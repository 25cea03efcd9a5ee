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
 * Applies the objects of an operator in the order in which they are given, but for definitions, which come first; removes what an
 * earlier deployment had besides, and waits until the operator is available.
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
    session.note(`${operator} is available: kubectl -n ${namespace} logs deployment/${name} shows what it does`)
  }
}

/** What {@link undeployObjects} leaves. */
export interface UndeployOptions {
  /** Leaves definitions and their objects. @default false */
  readonly keepDefinitions?: boolean | undefined
}

/**
 * Removes everything that deployments of an operator made: first the objects of its definitions, while it can still clean up after
 * them. Resolves to false when somebody was asked and did not want that.
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

/** Removes the definitions of an operator. Resolves to false when somebody was asked and did not want that. */
export async function uninstallDefinitions(session: ClusterSession, operator: OperatorDescription): Promise<boolean> {
  const definitions = await presentDefinitions(session, operator)
  if (definitions.length === 0) session.idle('nothing is installed')
  const isLoss = definitions.some(({ objects }) => objects > 0)
  if (isLoss && !(await session.confirm(lossOf(definitions)))) return false
  for (const definition of definitions) await removeDefinition(session, definition)
  return true
}

const isDefinition = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition'
