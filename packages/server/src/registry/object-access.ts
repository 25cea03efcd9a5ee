import type { ResourceTable } from '../resource/resource-table.ts'
import type { ObjectRegistry } from './object-registry.ts'

/** Access to stored objects: the resources that are served, and the registry of their objects. */
export interface ObjectAccess {
  readonly resources: ResourceTable
  readonly registry: ObjectRegistry
}
