import { encodeYaml, parseYaml } from '@kubewright/api'
import { errorText, isJsonObject, KubewrightError } from '@kubewright/base'
import { projectProblem } from './project-problem.ts'

/** The layout that these commands write. */
export const layout = 'ts.kubewright.dev/v1'
/** The plugin key that holds the options of `create api --image`. */
export const deployImageKey = 'deploy-image.kubewright.dev/v1'

/** The webhooks of a resource. */
export interface ProjectWebhooks {
  readonly webhookVersion: 'v1'
  readonly defaulting?: boolean | undefined
  readonly defaultingPath?: string | undefined
  readonly validation?: boolean | undefined
  readonly validationPath?: string | undefined
  /**
   * True if this version is the hub of the conversion, false if the kind has no conversion. If no version has the field,
   * the first version is the hub.
   */
  readonly conversion?: boolean | undefined
  readonly spoke?: readonly string[] | undefined
}

/** One version of one kind of a project. */
export interface ProjectResource {
  /** Absent for kinds that Kubernetes or another project defines. */
  readonly api?: { readonly crdVersion: 'v1'; readonly namespaced: boolean } | undefined
  readonly controller?: boolean | undefined
  /** Further controllers, by name. */
  readonly controllers?: readonly { readonly name: string }[] | undefined
  /** Whether Kubernetes defines the kind. */
  readonly core?: boolean | undefined
  /** Absent for groups of Kubernetes without a domain. */
  readonly domain?: string | undefined
  /** Whether another project defines the kind. */
  readonly external?: boolean | undefined
  /** The group without the domain; absent if the domain is the group. */
  readonly group?: string | undefined
  readonly kind: string
  /** The npm package of an external kind, with its version. */
  readonly module?: string | undefined
  /** The module that exports the kind. For kinds of the project, the file relative to the project. */
  readonly path: string
  /** Absent if it is the plural that is derived from the kind. */
  readonly plural?: string | undefined
  readonly version: string
  readonly webhooks?: ProjectWebhooks | undefined
}

/** The content of the PROJECT file: enough to write the whole scaffold again. */
export interface Project {
  readonly cliVersion: string
  readonly domain: string
  readonly layout: readonly string[]
  /** Whether the kinds of each group have a folder of their own. */
  readonly multigroup?: boolean | undefined
  /** Whether the operator is restricted to its own namespace. */
  readonly namespaced?: boolean | undefined
  readonly plugins?: Readonly<Record<string, unknown>> | undefined
  readonly projectName: string
  /** The repository of the sources, as given to `init`. */
  readonly repo?: string | undefined
  readonly resources?: readonly ProjectResource[] | undefined
  readonly version: '3'
}

/** The options of `create api --image`. */
export interface DeployImageOptions {
  readonly image: string
  readonly containerCommand?: string | undefined
  readonly containerPort?: string | undefined
  readonly runAsUser?: string | undefined
}

const heading = `# The settings and kinds of this project. kubewright init --replay writes its files again.
# Written by the kubewright command; change it with kubewright edit.
`

/** Formats a PROJECT file. */
export function formatProject(project: Project): string {
  return heading + encodeYaml(project)
}

/** Parses a PROJECT file. Throws an error that names the problem. */
export function parseProject(text: string): Project {
  const fail = (problem: string): never => {
    throw new KubewrightError('KW_PROJECT', `PROJECT ${problem}`)
  }
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    return fail(`is not valid YAML: ${errorText(error)}`)
  }
  if (!isJsonObject(value)) return fail('is empty: delete it and run kubewright init')
  const { version, layout: layouts, domain, projectName, resources } = value
  if (version !== '3') fail(`must have version: "3", not ${JSON.stringify(version)}`)
  if (!Array.isArray(layouts) || !layouts.includes(layout)) {
    fail(`has the layout ${JSON.stringify(layouts)} of another tool: kubewright supports ${layout}`)
  }
  if (typeof domain !== 'string' || typeof projectName !== 'string') fail('must have a domain and a projectName')
  for (const [index, resource] of Array.isArray(resources) ? resources.entries() : []) {
    for (const field of ['kind', 'version', 'path']) {
      if (!isJsonObject(resource) || typeof resource[field] !== 'string') fail(`must have resources[${index}].${field}`)
    }
  }
  const problem = projectProblem(value)
  if (problem !== undefined) fail(problem)
  // The fields that the commands rely on are checked.
  return value as unknown as Project
}

/** The full API group of a resource. */
export function groupOf({ group, domain, core }: Pick<ProjectResource, 'group' | 'domain' | 'core'>): string {
  if (core && group === 'core') return ''
  return [group, domain].filter((part) => part !== undefined && part !== '').join('.')
}

/** The owner and the license of a project. */
export function rightsOf({ plugins }: Project): {
  readonly license: 'apache2' | 'none'
  readonly owner?: string | undefined
} {
  const recorded = plugins?.[layout]
  if (!isJsonObject(recorded)) return { license: 'apache2' }
  const owner = typeof recorded['owner'] === 'string' ? { owner: recorded['owner'] } : {}
  return { license: recorded['license'] === 'none' ? 'none' : 'apache2', ...owner }
}

/** The options of a kind that `create api --image` created; undefined for other kinds. */
export function deployImageOf(project: Project, resource: ProjectResource): DeployImageOptions | undefined {
  const recorded = project.plugins?.[deployImageKey]
  const list: unknown = isJsonObject(recorded) ? recorded['resources'] : undefined
  for (const one of Array.isArray(list) ? list : []) {
    if (!isJsonObject(one) || one['kind'] !== resource.kind || one['group'] !== resource.group) continue
    const { options } = one
    // This program has written them; only the image is required.
    if (isJsonObject(options) && typeof options['image'] === 'string') return options as unknown as DeployImageOptions
  }
  return undefined
}
