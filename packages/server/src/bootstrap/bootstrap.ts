import { type BootstrapParts, ensureObject } from './ensure-object.ts'
import { namespaceObject, systemNamespaces } from './system-namespaces.ts'

/**
 * Gives a server the objects that every cluster has, apart from RBAC. Idempotent, and safe with several servers on one store. All writes
 * are under way at once, so that a durable store commits them together.
 */
export async function bootstrap(parts: BootstrapParts): Promise<void> {
  await Promise.all(systemNamespaces.map((name) => ensureObject(parts, 'namespaces', namespaceObject(name))))
}
