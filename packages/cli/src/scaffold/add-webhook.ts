import { KubewrightError, UsageError } from '@kubewright/base'
import { type BuiltinKind, builtinGroup } from './builtin-kinds.ts'
import { checkKind, checkVersion, shortGroup } from './check-names.ts'
import { type ExternalApi, foreignResource } from './foreign-resource.ts'
import { familiesOf } from './kind-family.ts'
import { withArticle } from './kind-names.ts'
import { groupOf, type Project, type ProjectResource, type ProjectWebhooks } from './project.ts'

/** The options of `create webhook`. */
export interface WebhookOptions {
  /** Required if several groups have the kind, and for kinds of Kubernetes. */
  readonly group?: string | undefined
  /** Required if the kind has several versions. */
  readonly version?: string | undefined
  readonly kind: string
  readonly plural?: string | undefined
  readonly defaulting?: boolean | undefined
  readonly defaultingPath?: string | undefined
  readonly validation?: boolean | undefined
  readonly validationPath?: string | undefined
  /** Makes the version the hub of the conversion. */
  readonly conversion?: boolean | undefined
  /** The versions that are converted to and from the hub. @default all others */
  readonly spoke?: readonly string[] | undefined
  readonly external?: ExternalApi | undefined
  /** Whether existing files may be overwritten. */
  readonly force?: boolean | undefined
}

/** Adds webhooks for a kind to a project. Throws an error that names the fix if that is impossible. */
export function addWebhook(project: Project, choice: WebhookOptions, builtins: readonly BuiltinKind[]): Project {
  const { defaulting, validation, conversion } = choice
  if (!defaulting && !validation && !conversion) {
    throw new UsageError('nothing to create: give --defaulting, --programmatic-validation or --conversion')
  }
  checkPath('--defaulting-path', choice.defaultingPath, defaulting, '--defaulting')
  checkPath('--validation-path', choice.validationPath, validation, '--programmatic-validation')
  if (choice.spoke !== undefined && !conversion)
    throw new UsageError('--spoke needs --conversion: add --conversion, or drop --spoke')
  const kind = checkKind(choice.kind)
  const known = findEntry(project, { ...choice, kind }, builtins)
  const entry = known ?? newForeign(project, { ...choice, kind }, builtins)
  if (conversion && entry.api === undefined) {
    throw new UsageError(`--conversion needs a kind that this project defines, not ${kind}`)
  }
  refuseRepeated(project, entry, choice)
  const spoke = conversion ? spokesOf(project, entry, choice) : entry.webhooks?.spoke
  const webhooks: ProjectWebhooks = {
    ...entry.webhooks,
    webhookVersion: 'v1',
    ...(defaulting ? { defaulting } : {}),
    ...(choice.defaultingPath === undefined ? {} : { defaultingPath: choice.defaultingPath }),
    ...(validation ? { validation } : {}),
    ...(choice.validationPath === undefined ? {} : { validationPath: choice.validationPath }),
    ...(conversion ? { conversion } : {}),
    ...(spoke === undefined ? {} : { spoke }),
  }
  const complete = { ...entry, webhooks }
  const resources = project.resources ?? []
  const isSibling = (one: ProjectResource): boolean => one.kind === kind && groupOf(one) === groupOf(entry)
  const others = conversion ? resources.map((one) => (isSibling(one) ? withoutHub(one) : one)) : resources
  const at = known ? resources.indexOf(known) : resources.length
  return { ...project, resources: [...others.slice(0, at), complete, ...others.slice(at + 1)] }
}

function checkPath(flag: string, path: string | undefined, isWanted: boolean | undefined, needed: string): void {
  if (path === undefined) return
  if (!isWanted) throw new UsageError(`${flag} needs ${needed}: add ${needed}, or drop ${flag}`)
  if (!/^\/[\w./-]+$/.test(path)) throw new UsageError(`${flag} must be a path such as /my-path, not "${path}"`)
}

function findEntry(
  project: Project,
  { kind, version, group }: WebhookOptions,
  builtins: readonly BuiltinKind[],
): ProjectResource | undefined {
  const ofKind = (project.resources ?? []).filter((one) => one.kind === kind)
  const short = shortGroup(group, project.domain)
  const ofGroup = group === undefined ? ofKind : ofKind.filter((one) => one.group === short)
  const groups = new Set(ofGroup.map(groupOf))
  if (groups.size > 1)
    throw new UsageError(`--group is required because ${[...groups].join(' and ')} have ${withArticle(kind)}`)
  const isForeign = ofGroup.length === 0 && group !== undefined && builtinGroup(builtins, group) !== undefined
  if (ofGroup.length === 0 && isForeign) return undefined
  if (version === undefined) {
    if (ofGroup.length > 1) {
      throw new UsageError(
        `--version is required because ${kind} has ${ofGroup.map((one) => one.version).join(' and ')}`,
      )
    }
    return ofGroup[0]
  }
  return ofGroup.find((one) => one.version === checkVersion(version))
}

function newForeign(project: Project, choice: WebhookOptions, builtins: readonly BuiltinKind[]): ProjectResource {
  const { kind, version, external, plural } = choice
  const group = shortGroup(choice.group, project.domain)
  const isBuiltin = group !== undefined && builtinGroup(builtins, group) !== undefined
  if (external === undefined && !isBuiltin) {
    const what = [group, version].filter((part) => part !== undefined).join('/')
    throw new KubewrightError(
      'KW_PROJECT',
      `This project has no ${kind}${what === '' ? '' : ` (${what})`}: add it with kubewright create api, or name its module with --external-api-path`,
    )
  }
  if (version === undefined) throw new UsageError('--version is required for a kind that the project does not define')
  return foreignResource({ kind, version: checkVersion(version), group, plural, external }, builtins)
}

function refuseRepeated(project: Project, entry: ProjectResource, choice: WebhookOptions): void {
  const { kind, version, webhooks } = entry
  const repeated = [
    choice.defaulting && webhooks?.defaulting && 'defaulting',
    choice.validation && webhooks?.validation && 'validation',
    choice.conversion && webhooks?.conversion && 'conversion',
  ].filter((what) => typeof what === 'string')
  if (repeated.length > 0 && !choice.force) {
    throw new KubewrightError(
      'KW_PROJECT',
      `${kind} ${version} already has webhooks for ${repeated.join(' and ')}: overwrite them with --force`,
    )
  }
  if (!choice.defaulting && !choice.validation) return
  const family = familiesOf(project).find((one) => one.kind === kind && one.group === groupOf(entry))
  const at = family?.versions.findIndex((one) => one.version === version) ?? 0
  const [other] = family?.webhooks ?? []
  // The webhooks of the first version with some have the files without a version in their names, and keep them.
  if (other && (family?.versions.findIndex((one) => one.version === other.version) ?? 0) > at) {
    throw new KubewrightError(
      'KW_PROJECT',
      `Version ${other.version} of ${kind} has webhooks, and requests in other versions are converted for them: extend them with --version ${other.version}`,
    )
  }
}

function spokesOf(project: Project, entry: ProjectResource, { spoke, force }: WebhookOptions): string[] {
  const { kind, version } = entry
  const family = familiesOf(project).find((one) => one.kind === kind && one.group === groupOf(entry))
  const others = (family?.versions ?? []).map((one) => one.version).filter((one) => one !== version)
  if (others.length === 0) {
    throw new KubewrightError(
      'KW_PROJECT',
      `${kind} has only one version, so there is nothing to convert: add a version with kubewright create api`,
    )
  }
  const hub = family?.versions.find((one) => one.webhooks?.conversion && one.version !== version)
  if (hub && !force) {
    throw new KubewrightError(
      'KW_PROJECT',
      `Version ${hub.version} of ${kind} is already the hub: make ${version} the hub with --force`,
    )
  }
  const unknown = (spoke ?? []).filter((one) => !others.includes(one))
  if (unknown.length > 0) {
    throw new UsageError(
      `--spoke must name other versions of ${kind} (${others.join(', ')}), not "${unknown.join(', ')}"`,
    )
  }
  const missing = spoke === undefined ? [] : others.filter((one) => !spoke.includes(one))
  if (missing.length > 0) {
    throw new UsageError(`--spoke must name all other versions of ${kind}: ${missing.join(', ')} is missing`)
  }
  return others
}

function withoutHub(resource: ProjectResource): ProjectResource {
  if (!resource.webhooks?.conversion) return resource
  const { conversion: _, spoke: __, ...webhooks } = resource.webhooks
  const { webhooks: ___, ...rest } = resource
  return webhooks.defaulting || webhooks.validation ? { ...rest, webhooks } : rest
}
