import { guessPlural } from '@kubewright/api'
import { isImage } from '../manifests/manifest-options.ts'
import { UsageError } from '../usage-error.ts'
import type { BuiltinKind } from './builtin-kinds.ts'
import { checkControllerName, checkKind, checkPlural, checkVersion, shortGroup } from './check-names.ts'
import { type ExternalApi, foreignResource } from './foreign-resource.ts'
import { familiesOf, type KindFamily } from './kind-family.ts'
import { fileNameOf, namesOf } from './kind-names.ts'
import { type DeployImageOptions, deployImageKey, groupOf, type Project, type ProjectResource } from './project.ts'

/** What `create api` was asked for. */
export interface ApiOptions {
  readonly group?: string | undefined
  readonly version: string
  readonly kind: string
  readonly plural?: string | undefined
  readonly namespaced?: boolean | undefined
  /** Whether the project defines the kind. @default true */
  readonly resource?: boolean | undefined
  /** @default true, but for a further version of a kind that has one */
  readonly controller?: boolean | undefined
  readonly controllerName?: string | undefined
  readonly image?: DeployImageOptions | undefined
  readonly external?: ExternalApi | undefined
  /** Whether what is there may be made again. */
  readonly force?: boolean | undefined
}

/** The project with a further kind, version or controller. Throws an error that names the cure for what cannot be. */
export function addApi(project: Project, options: ApiOptions, builtins: readonly BuiltinKind[]): Project {
  const kind = checkKind(options.kind)
  const version = checkVersion(options.version)
  const group = shortGroup(options.group, project.domain)
  const { resource: wantsResource = options.external === undefined } = options
  const resources = project.resources ?? []
  // A group of the project may have the short name of one of Kubernetes.
  const isMeant = (one: ProjectResource): boolean =>
    one.kind === kind && one.group === group && (!wantsResource || one.api !== undefined)
  const known = resources.find((one) => isMeant(one) && one.version === version)
  const family = familiesOf(project).find(({ versions }) => isMeant(versions[0]!))
  const wantsController = options.controller ?? (family === undefined || !wantsResource)
  if (!wantsResource && !wantsController) {
    throw new UsageError('nothing is left to create without a resource and without a controller')
  }
  if (options.image !== undefined) checkImage(options, kind, family !== undefined && known === undefined)
  const isOwn = wantsResource || (known?.api !== undefined && options.external === undefined)
  const entry = isOwn
    ? ownResource(project, { ...options, kind, version, group }, known, family, builtins)
    : (known ?? foreignResource({ kind, version, group, plural: options.plural, external: options.external }, builtins))
  const complete = wantsController ? withController(entry, family, options) : entry
  refuseTwin(project, complete)
  if (complete.controllers !== undefined) refuseControllerTwin(project, complete, options.controllerName)
  const all = known ? resources.map((one) => (one === known ? complete : one)) : [...resources, complete]
  return {
    ...project,
    resources: known ? all : all.map((one) => withSpoke(one, complete)),
    ...(options.image === undefined ? {} : { plugins: withImage(project, complete, options.image) }),
  }
}

/** A hub has to know all other versions. */
function withSpoke(resource: ProjectResource, added: ProjectResource): ProjectResource {
  const { webhooks, kind } = resource
  if (resource === added || kind !== added.kind || groupOf(resource) !== groupOf(added) || !webhooks?.conversion)
    return resource
  return { ...resource, webhooks: { ...webhooks, spoke: [...(webhooks.spoke ?? []), added.version] } }
}

interface OwnOptions extends ApiOptions {
  readonly group: string | undefined
}

function ownResource(
  project: Project,
  options: OwnOptions,
  known: ProjectResource | undefined,
  family: KindFamily | undefined,
  builtins: readonly BuiltinKind[],
): ProjectResource {
  const { kind, version, group, force, resource = true } = options
  const { domain, multigroup } = project
  const full = groupOf({ ...(group === undefined ? {} : { group }), domain })
  if (known?.api && resource && !force) {
    throw new Error(
      `${kind} (${full}/${version}) exists already: choose another --version or --kind, or write its files again with --force`,
    )
  }
  if (known && !resource) return known
  if (builtins.some((builtin) => builtin.group === full)) {
    throw new Error(
      `The group ${full} is taken by Kubernetes itself: choose another --group, or --resource=false for a controller of its kinds`,
    )
  }
  const others = (project.resources ?? []).filter((one) => one.api && one.group !== group)
  if (!multigroup && others.length > 0 && family === undefined) {
    const first = groupOf(others[0]!)
    throw new Error(
      `The kinds of this project are in the group ${first}: to add a second one, run kubewright edit --multigroup first`,
    )
  }
  const [first] = family?.versions ?? []
  const { namespaced = first?.api?.namespaced ?? true, plural = first?.plural } = options
  if (first?.api && known !== first) {
    if (first.api.namespaced !== namespaced) throw new UsageError(differs(kind, '--namespaced', first.version))
    if (plural !== first.plural && plural !== guessPlural(kind))
      throw new UsageError(differs(kind, '--plural', first.version))
  }
  const folder = multigroup && group !== undefined ? `src/${group}` : 'src'
  return {
    ...known,
    api: { crdVersion: 'v1', namespaced },
    domain,
    ...(group === undefined ? {} : { group }),
    kind,
    path: first?.path ?? `${folder}/${fileNameOf(kind)}.ts`,
    ...(plural === undefined || plural === guessPlural(kind) ? {} : { plural: checkPlural(plural) }),
    version,
  }
}

function differs(kind: string, flag: string, version: string): string {
  return `${flag} must be as in version ${version} of ${kind}: it is the same for all versions`
}

function withController(
  entry: ProjectResource,
  family: KindFamily | undefined,
  { controllerName, force, resource }: ApiOptions,
): ProjectResource {
  const has = entry.controller === true || (family?.controllers.length ?? 0) > 0
  if (controllerName !== undefined) {
    const name = checkControllerName(controllerName)
    const others = (entry.controllers ?? []).filter((one) => one.name !== name)
    return { ...entry, controllers: [...others, { name }] }
  }
  if (has && !force) {
    const cure = 'give a further one a name with --controller-name, or write it again with --force'
    throw new Error(
      `${entry.kind} has a controller already: ${resource === false ? cure : `say --controller=false, or ${cure}`}`,
    )
  }
  return has ? entry : { ...entry, controller: true }
}

/** Two kinds cannot have the same files, nor two kinds of a group the same plural. */
function refuseTwin(project: Project, entry: ProjectResource): void {
  const { stem } = namesOf(entry)
  const group = groupOf(entry)
  for (const other of project.resources ?? []) {
    if (other.kind === entry.kind && groupOf(other) === group) continue
    const what = `${other.kind} (${groupOf(other) || 'core'}/${other.version})`
    if (namesOf(other).stem === stem) {
      throw new Error(
        `${what} has the files ${stem}.*: choose another --kind, or keep groups apart with kubewright edit --multigroup`,
      )
    }
    const plural = entry.plural ?? guessPlural(entry.kind)
    if (groupOf(other) === group && (other.plural ?? guessPlural(other.kind)) === plural) {
      throw new Error(`${what} has the plural ${plural} already: choose another one with --plural`)
    }
  }
}

function refuseControllerTwin(project: Project, entry: ProjectResource, name: string | undefined): void {
  for (const family of familiesOf(project)) {
    for (const controller of family.controllers) {
      const isSame = family.kind === entry.kind && family.group === groupOf(entry)
      const taken = controller.name ?? family.kind.toLowerCase()
      if (taken !== name || (isSame && controller.name === name)) continue
      throw new Error(`A controller of ${family.kind} is named "${taken}" already: choose another --controller-name`)
    }
  }
  if (name !== undefined && entry.controller && name === entry.kind.toLowerCase()) {
    throw new Error(
      `The first controller of ${entry.kind} is named "${name}" already: choose another --controller-name`,
    )
  }
}

function checkImage(
  { image, external, resource, controller, namespaced }: ApiOptions,
  kind: string,
  isFurther: boolean,
): void {
  if (external !== undefined || resource === false || controller === false || isFurther) {
    throw new UsageError(
      '--image makes a new kind and its controller: it goes neither with another version nor without one of them',
    )
  }
  if (namespaced === false) {
    throw new UsageError(
      '--image makes Deployments beside the objects, which must be in namespaces then: leave --namespaced out',
    )
  }
  if (kind === 'Deployment' || kind === 'Pod')
    throw new UsageError(`--kind cannot be ${kind} with --image, which makes ${kind}s`)
  const { image: name, containerPort, runAsUser } = image!
  if (!isImage(name)) throw new UsageError(`--image must be a container image, not "${name}"`)
  if (containerPort !== undefined && !(/^\d+$/.test(containerPort) && +containerPort > 0 && +containerPort < 65_536)) {
    throw new UsageError(`--image-container-port must be a number from 1 to 65535, not "${containerPort}"`)
  }
  if (runAsUser !== undefined && !/^\d+$/.test(runAsUser)) {
    throw new UsageError(`--run-as-user must be the number of a user, not "${runAsUser}"`)
  }
}

function withImage(
  project: Project,
  entry: ProjectResource,
  options: DeployImageOptions,
): NonNullable<Project['plugins']> {
  const { domain, group, kind, version } = entry
  const kept = project.plugins?.[deployImageKey] as { readonly resources?: readonly { kind: string; group?: string }[] }
  const others = (kept?.resources ?? []).filter((one) => one.kind !== kind || one.group !== group)
  return { ...project.plugins, [deployImageKey]: { resources: [...others, { domain, group, kind, options, version }] } }
}
