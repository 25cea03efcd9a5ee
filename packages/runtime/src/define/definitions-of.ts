import { type AnyKind, type CrdManifest, crdOf, resourceOf } from '@kubewright/api'
import { isKeyController, type Operator } from './define-operator.ts'

/** Options of {@link definitionsOf}. */
export interface DefinitionsOptions {
  /** Whether to include kinds that another project installs. @default true */
  readonly external?: boolean
}

/** The CRDs of all custom kinds that an operator uses, one for each resource, sorted by name. */
export function definitionsOf(
  operator: Pick<Operator, 'kinds' | 'controllers' | 'webhooks' | 'conversions'>,
  { external = true }: DefinitionsOptions = {},
): readonly CrdManifest[] {
  const named: (AnyKind | undefined)[] = [...operator.kinds]
  for (const controller of operator.controllers) {
    named.push(controller.kind)
    if (isKeyController(controller)) continue
    for (const { kind } of [...controller.owns, ...controller.watches]) named.push(kind)
  }
  for (const { kind } of operator.webhooks) named.push(kind)
  for (const { hub } of operator.conversions) named.push(hub)
  const byName = new Map<string, CrdManifest>()
  for (const kind of named) {
    const resource = kind && resourceOf(kind)
    if (kind === undefined || resource === undefined || (resource.external && !external)) continue
    const definition = crdOf(kind)
    if (!byName.has(definition.metadata.name)) byName.set(definition.metadata.name, definition)
  }
  return [...byName.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}
