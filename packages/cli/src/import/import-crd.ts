import { type CrdManifest, type CrdVersion, crdOf } from '@kubewright/api'
import { kebab } from '../text/kebab.ts'
import { crdDifferences } from './normal-crd.ts'
import { type PlannedVersion, type PlanOptions, planResource } from './plan-resource.ts'
import { plannedKind } from './planned-kind.ts'
import { exportedName, resourceText } from './resource-text.ts'

/** A module that defines a kind, and its differences from the CRD. */
export interface ImportedKind {
  /** The exported name. */
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly versions: readonly string[]
  /** The path in the folder of imported kinds: `cert-manager.io/certificate.ts`. */
  readonly path: string
  readonly text: string
  /** The paths in the CRD that the module cannot express; usually empty. */
  readonly differences: readonly string[]
}

/** The options of {@link importCrd}. */
export interface ImportOptions extends PlanOptions {
  /** The source of the CRD, for the comment at the top of the module. @default the name of the CRD */
  readonly origin?: string | undefined
}

/**
 * Generates the module that defines the kind of a CRD, and compares the CRD that it evaluates to with the original.
 * @throws TypeError or RangeError with the reason if the kind cannot be defined
 */
export function importCrd(crd: CrdManifest, options: ImportOptions = {}): ImportedKind {
  const plan = planResource(crd, options)
  const { kind, group } = plan.names
  // Descriptions that are omitted on request do not count as differences.
  const written = crdOf(plannedKind(planResource(crd, { ...options, descriptions: true })))
  const wanted = { ...crd, spec: { ...crd.spec, versions: chosen(crd, plan.versions) } }
  return {
    name: exportedName(kind),
    group,
    kind,
    versions: plan.versions.map(({ name }) => name),
    path: `${group}/${kebab(kind)}.ts`,
    text: resourceText(plan, { origin: options.origin ?? `the CRD ${crd.metadata.name}` }),
    differences: crdDifferences(wanted, written),
  }
}

function chosen(crd: CrdManifest, planned: readonly Pick<PlannedVersion, 'name' | 'storage'>[]): CrdVersion[] {
  return planned.flatMap(({ name, storage }) =>
    crd.spec.versions.filter((version) => version.name === name).map((version) => ({ ...version, storage })),
  )
}
