import { type KindNames, kebab, namesOf, variableOf } from './kind-names.ts'
import { type DeployImageOptions, deployImageOf, groupOf, type Project, type ProjectResource } from './project.ts'

/** A controller that a project has for a kind. */
export interface FamilyController {
  /** The start of its files' names, from the project's folder. */
  readonly stem: string
  /** What the name of its export begins with. */
  readonly prefix: string
  /** Undefined for the name that the runtime gives it. */
  readonly name: string | undefined
}

/** A kind with all of its versions, as a project has it. */
export interface KindFamily extends KindNames {
  /** As the API server knows it. */
  readonly group: string
  /** In the order in which they were made; never empty. */
  readonly versions: readonly ProjectResource[]
  /** The version that objects are stored in. */
  readonly stored: ProjectResource
  /** Whether somebody else defines it. */
  readonly isForeign: boolean
  readonly controllers: readonly FamilyController[]
  readonly webhooks: ProjectResource['webhooks']
  /** The version that the webhooks are for; undefined without any. */
  readonly webhookVersion: string | undefined
  /** Whether versions are converted by code. */
  readonly isConverted: boolean
  readonly image: DeployImageOptions | undefined
}

/** The kinds of a project, each with its versions. */
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
  const names = namesOf(first)
  const reviewed = versions.find(({ webhooks }) => webhooks?.defaulting || webhooks?.validation)
  return {
    ...names,
    group: groupOf(first),
    versions,
    stored: hub ?? first,
    isForeign: first.core === true || first.external === true,
    controllers: versions.flatMap((version) => controllersOf(version, names)),
    webhooks: reviewed?.webhooks,
    webhookVersion: reviewed?.version,
    isConverted: hub !== undefined,
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
  // Kinds of the same name in several groups need controllers with different names.
  const isGrouped = folder !== 'src' && resource.group !== undefined
  const name = isGrouped ? `${resource.group}-${resource.kind.toLowerCase()}` : undefined
  return [{ stem, prefix, name }, ...named]
}
