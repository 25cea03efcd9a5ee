import { type CrdManifest, type CrdVersion, crdOf } from '@kubewright/api'
import { kebab } from '../text/kebab.ts'
import { crdDifferences } from './normal-crd.ts'
import { type PlannedVersion, type PlanOptions, planResource } from './plan-resource.ts'
import { plannedKind } from './planned-kind.ts'
import { exportedName, resourceText } from './resource-text.ts'

/** A module that defines a kind, and what it does not say of the definition that it was made from. */
export interface ImportedKind {
  /** The name of the value. */
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly versions: readonly string[]
  /** Below the folder of imported kinds: `cert-manager.io/certificate.ts`. */
  readonly path: string
  readonly text: string
  /** Paths into the definition at which the module means something else; empty unless the definition is unusual. */
  readonly differences: readonly string[]
}

/** What {@link importCrd} takes besides the definition. */
export interface ImportOptions extends PlanOptions {
  /** Where the definition is from, for the comment at the top of the module. @default the definition */
  readonly origin?: string | undefined
}

/**
 * The module that defines the kind of a CRD with `s`. What it means is compared with the CRD: the differences are said.
 * @throws TypeError or RangeError with the reason if no such module can be written
 */
export function importCrd(crd: CrdManifest, options: ImportOptions = {}): ImportedKind {
  const plan = planResource(crd, options)
  const { kind, group } = plan.names
  // Texts that are left out on purpose are no differences.
  const written = crdOf(plannedKind(planResource(crd, { ...options, descriptions: true })))
  const wanted = { ...crd, spec: { ...crd.spec, versions: chosen(crd, plan.versions) } }
  return {
    name: exportedName(kind),
    group,
    kind,
    versions: plan.versions.map(({ name }) => name),
    path: `${group}/${kebab(kind)}.ts`,
    text: resourceText(plan, { origin: options.origin ?? `the definition ${crd.metadata.name}` }),
    differences: crdDifferences(wanted, written),
  }
}

function chosen(crd: CrdManifest, planned: readonly Pick<PlannedVersion, 'name' | 'storage'>[]): CrdVersion[] {
  return planned.flatMap(({ name, storage }) =>
    crd.spec.versions.filter((version) => version.name === name).map((version) => ({ ...version, storage })),
  )
}
