import { guessPlural } from '@kubewright/api'
import { KubewrightError, UsageError } from '@kubewright/base'
import { isImage } from '../manifests/manifest-options.ts'
import type { BuiltinKind } from './builtin-kinds.ts'
import { checkControllerName, checkKind, checkPlural, checkVersion, shortGroup } from './check-names.ts'
import { type ExternalApi, foreignResource } from './foreign-resource.ts'
import { familiesOf, type KindFamily } from './kind-family.ts'
import { fileNameOf, namesOf } from './kind-names.ts'
import { type DeployImageOptions, deployImageKey, groupOf, type Project, type ProjectResource } from './project.ts'

/** The options of `create api`. */
export interface ApiOptions {
  readonly group?: string | undefined
  readonly version: string
  readonly kind: string
  readonly plural?: string | undefined
  readonly namespaced?: boolean | undefined
  /** Whether the project defines the kind. @default true */
  readonly resource?: boolean | undefined
  /** @default true, but false for a further version of a kind that has a controller */
  readonly controller?: boolean | undefined
  readonly controllerName?: string | undefined
  readonly image?: DeployImageOptions | undefined
  readonly external?: ExternalApi | undefined
  /** Whether a further version is converted. @default true */
  readonly conversion?: boolean | undefined
  /** Whether existing files may be overwritten. */
  readonly force?: boolean | undefined
}

/** Adds a kind, a version or a controller to a project. Throws an error that names the fix if that is impossible. */
export function addApi(project: Project, options: ApiOptions, builtins: readonly BuiltinKind[]): Project {
  const kind = checkKind(options.kind)
  const version = checkVersion(options.version)
  const group = shortGroup(options.group, project.domain)
  const { resource: wantsResource = options.external === undefined } = options
  const resources = project.resources ?? []
  // A group of the project may have the same short name as a group of Kubernetes: a resource of the project has `api`.
  const isMeant = (one: ProjectResource): boolean =>
    one.kind === kind && one.group === group && (!wantsResource || one.api !== undefined)
  const known = resources.find((one) => isMeant(one) && one.version === version)
  const family = familiesOf(project).find(({ versions }) => isMeant(versions[0]!))
  const wantsController = options.controller ?? (family === undefined || !wantsResource)
  if (!wantsResource && !wantsController) {
    throw new UsageError('nothing to create: drop --no-resource or --no-controller')
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
  const isFurther = known === undefined && complete.api !== undefined && family !== undefined
  if (options.conversion !== undefined && !isFurther) {
    throw new UsageError('--conversion needs a further version of a kind of this project: name another --version')
  }
  if (options.conversion === false && family?.isConverted && family.versions.length > 1) {
    throw new UsageError(`--no-conversion is impossible because the versions of ${kind} are converted already`)
  }
  const isUnconverted = isFurther && options.conversion === false
  return {
    ...project,
    resources: known
      ? all
      : all.map((one) => (one === complete && isUnconverted ? withoutConversion(one) : withSpoke(one, complete))),
    ...(options.image === undefined ? {} : { plugins: withImage(project, complete, options.image) }),
  }
}

/** Adds a new version to the spokes of the hub, which lists all other versions. */
function withSpoke(resource: ProjectResource, added: ProjectResource): ProjectResource {
  const { webhooks, kind } = resource
  if (resource === added || kind !== added.kind || groupOf(resource) !== groupOf(added) || !webhooks?.conversion)
    return resource
  return { ...resource, webhooks: { ...webhooks, spoke: [...(webhooks.spoke ?? []), added.version] } }
}

/** Records that the versions of a kind are not converted. */
function withoutConversion(resource: ProjectResource): ProjectResource {
  return { ...resource, webhooks: { ...resource.webhooks, webhookVersion: 'v1', conversion: false } }
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
    throw new KubewrightError(
      'KW_PROJECT',
      `${kind} (${full}/${version}) already exists: choose another --version or --kind, or overwrite its files with --force`,
    )
  }
  if (known && !resource) return known
  if (builtins.some((builtin) => builtin.group === full)) {
    throw new KubewrightError(
      'KW_PROJECT',
      `The group ${full} belongs to Kubernetes: choose another --group, or use --no-resource for a controller of its kinds`,
    )
  }
  const others = (project.resources ?? []).filter((one) => one.api && one.group !== group)
  if (!multigroup && others.length > 0 && family === undefined) {
    const first = groupOf(others[0]!)
    throw new KubewrightError(
      'KW_PROJECT',
      `The kinds of this project are in the group ${first}: run kubewright edit --multigroup before you add a second group`,
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
  return `${flag} must be the same as in version ${version} of ${kind}: all versions share it`
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
    const fix = 'name a further one with --controller-name, or overwrite it with --force'
    throw new KubewrightError(
      'KW_PROJECT',
      `${entry.kind} already has a controller: ${resource === false ? fix : `use --no-controller, ${fix}`}`,
    )
  }
  return has ? entry : { ...entry, controller: true }
}

/** Refuses a kind with the same files as another kind, or with the same plural in the same group. */
function refuseTwin(project: Project, entry: ProjectResource): void {
  const { stem } = namesOf(entry)
  const group = groupOf(entry)
  for (const other of project.resources ?? []) {
    if (other.kind === entry.kind && groupOf(other) === group) continue
    const what = `${other.kind} (${groupOf(other) || 'core'}/${other.version})`
    if (namesOf(other).stem === stem) {
      throw new KubewrightError(
        'KW_PROJECT',
        `${what} already uses the files ${stem}.*: choose another --kind, or separate groups with kubewright edit --multigroup`,
      )
    }
    const plural = entry.plural ?? guessPlural(entry.kind)
    if (groupOf(other) === group && (other.plural ?? guessPlural(other.kind)) === plural) {
      throw new KubewrightError(
        'KW_PROJECT',
        `${what} already has the plural ${plural}: choose another one with --plural`,
      )
    }
  }
}

function refuseControllerTwin(project: Project, entry: ProjectResource, name: string | undefined): void {
  for (const family of familiesOf(project)) {
    for (const controller of family.controllers) {
      const isSame = family.kind === entry.kind && family.group === groupOf(entry)
      const taken = controller.name ?? family.kind.toLowerCase()
      if (taken !== name || (isSame && controller.name === name)) continue
      throw new KubewrightError(
        'KW_PROJECT',
        `A controller of ${family.kind} is already named "${taken}": choose another --controller-name`,
      )
    }
  }
  if (name !== undefined && entry.controller && name === entry.kind.toLowerCase()) {
    throw new KubewrightError(
      'KW_PROJECT',
      `The first controller of ${entry.kind} is already named "${name}": choose another --controller-name`,
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
      '--image creates a new kind with its controller: it excludes further versions, --no-resource, --no-controller and --external-api-path',
    )
  }
  if (namespaced === false) {
    throw new UsageError('--image creates Deployments in the namespace of each object: drop --no-namespaced')
  }
  if (kind === 'Deployment' || kind === 'Pod')
    throw new UsageError(`--kind must not be ${kind} with --image, which creates ${kind}s: choose another name`)
  const { image: name, containerPort, runAsUser } = image!
  if (!isImage(name)) throw new UsageError(`--image must be a container image, such as nginx:1.27, not "${name}"`)
  if (containerPort !== undefined && !(/^\d+$/.test(containerPort) && +containerPort > 0 && +containerPort < 65_536)) {
    throw new UsageError(`--image-container-port must be a number from 1 to 65535, not "${containerPort}"`)
  }
  if (runAsUser !== undefined && !/^\d+$/.test(runAsUser)) {
    throw new UsageError(`--run-as-user must be the number of a user, such as 1001, not "${runAsUser}"`)
  }
}

function withImage(
  project: Project,
  entry: ProjectResource,
  options: DeployImageOptions,
): NonNullable<Project['plugins']> {
  const { domain, group, kind, version } = entry
  const recorded = project.plugins?.[deployImageKey] as {
    readonly resources?: readonly { kind: string; group?: string | undefined }[] | undefined
  }
  const others = (recorded?.resources ?? []).filter((one) => one.kind !== kind || one.group !== group)
  return { ...project.plugins, [deployImageKey]: { resources: [...others, { domain, group, kind, options, version }] } }
}
