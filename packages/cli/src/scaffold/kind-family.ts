import { kebab } from '../text/kebab.ts'
import { type KindNames, namesOf, variableOf } from './kind-names.ts'
import { type DeployImageOptions, deployImageOf, groupOf, type Project, type ProjectResource } from './project.ts'

/** A controller of a kind. */
export interface FamilyController {
  /** The path of its files without suffixes, relative to the project. */
  readonly stem: string
  /** The start of the name of its export. */
  readonly prefix: string
  /** Undefined for the name that the runtime derives. */
  readonly name: string | undefined
}

/** The webhooks of one version of a kind. */
export interface FamilyWebhook {
  readonly version: string
  readonly webhooks: NonNullable<ProjectResource['webhooks']>
  /** The path of its files without suffixes, relative to the project. */
  readonly stem: string
  /** The start of the name of its export. */
  readonly prefix: string
  /** Whether an earlier version has webhooks too. */
  readonly isFurther: boolean
}

/** A kind of a project with all its versions. */
export interface KindFamily extends KindNames {
  /** The full API group. */
  readonly group: string
  /** In the order of their creation; never empty. */
  readonly versions: readonly ProjectResource[]
  /** The storage version. */
  readonly stored: ProjectResource
  /** Whether Kubernetes or another project defines it. */
  readonly isForeign: boolean
  readonly controllers: readonly FamilyController[]
  /** The webhooks that default or validate, in the order of the versions. */
  readonly webhooks: readonly FamilyWebhook[]
  /** Whether a conversion webhook converts its versions. True for several versions unless the user declined it. */
  readonly isConverted: boolean
  readonly image: DeployImageOptions | undefined
}

/** Groups the resources of a project by kind. */
export function familiesOf(project: Project): KindFamily[] {
  const byKind = new Map<string, ProjectResource[]>()
  for (const resource of project.resources ?? []) {
    const id = `${resource.kind}.${groupOf(resource)}`
    byKind.set(id, [...(byKind.get(id) ?? []), resource])
  }
  return [...byKind.values()].map((versions) => familyOf(project, versions))
}

function familyOf(project: Project, versions: readonly ProjectResource[]): KindFamily {
  const [first] = versions as readonly [ProjectResource, ...ProjectResource[]]
  const hub = versions.find(({ webhooks }) => webhooks?.conversion)
  // `create api --no-conversion` has recorded it.
  const isUnconverted = versions.some(({ webhooks }) => webhooks?.conversion === false)
  const names = namesOf(first)
  const reviewed = versions.filter(({ webhooks }) => webhooks?.defaulting || webhooks?.validation)
  return {
    ...names,
    group: groupOf(first),
    versions,
    stored: hub ?? first,
    isForeign: first.core === true || first.external === true,
    controllers: versions.flatMap((version) => controllersOf(version, names)),
    webhooks: reviewed.map(({ version, webhooks }, index) => ({
      version,
      webhooks: webhooks!,
      stem: index === 0 ? names.stem : `${names.stem}.${version}`,
      prefix: index === 0 ? names.prefix : `${names.prefix}${version[0]!.toUpperCase()}${version.slice(1)}`,
      isFurther: index > 0,
    })),
    isConverted: hub !== undefined || (versions.length > 1 && first.api !== undefined && !isUnconverted),
    image: deployImageOf(project, first),
  }
}

function controllersOf(resource: ProjectResource, { stem, prefix }: KindNames): FamilyController[] {
  const folder = stem.slice(0, stem.lastIndexOf('/'))
  const named = (resource.controllers ?? []).map(({ name }) => {
    const file = kebab(name).replaceAll(/[^a-z0-9]+/g, '-')
    return { stem: `${folder}/${file}`, prefix: variableOf(file), name }
  })
  if (resource.controller !== true) return named
  // Kinds with the same name in several groups need controllers with different names.
  const isGrouped = folder !== 'src' && resource.group !== undefined
  const name = isGrouped ? `${resource.group}-${resource.kind.toLowerCase()}` : undefined
  return [{ stem, prefix, name }, ...named]
}
