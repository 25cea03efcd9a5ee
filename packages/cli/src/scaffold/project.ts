import { encodeYaml, parseYaml } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { isRecord } from '../text/is-record.ts'

/** The layout that the commands of this package write. */
export const layout = 'ts.kubewright.dev/v1'
/** Where the options of `create api --image` are kept. */
export const deployImageKey = 'deploy-image.kubewright.dev/v1'

/** What a project has of a resource's webhooks. */
export interface ProjectWebhooks {
  readonly webhookVersion: 'v1'
  readonly defaulting?: boolean
  readonly defaultingPath?: string
  readonly validation?: boolean
  readonly validationPath?: string
  /** This version is the hub that the others are converted by way of. */
  readonly conversion?: boolean
  readonly spoke?: readonly string[]
}

/** One version of one kind that a project deals with. */
export interface ProjectResource {
  /** Absent for kinds that others define. */
  readonly api?: { readonly crdVersion: 'v1'; readonly namespaced: boolean }
  readonly controller?: boolean
  /** Controllers with names of their own. */
  readonly controllers?: readonly { readonly name: string }[]
  /** A kind of Kubernetes itself. */
  readonly core?: boolean
  /** Absent for kinds of Kubernetes whose group has none. */
  readonly domain?: string
  /** A kind that is defined elsewhere. */
  readonly external?: boolean
  /** The group without the domain; absent when the domain is the group. */
  readonly group?: string
  readonly kind: string
  /** The npm package, with its version, that an external kind comes from. */
  readonly module?: string
  /** The module that the kind is imported from. For kinds of the project: the file, from the project's folder. */
  readonly path: string
  /** Only when it is not what the kind lets one expect. */
  readonly plural?: string
  readonly version: string
  readonly webhooks?: ProjectWebhooks
}

/** What the PROJECT file remembers: enough to write the whole scaffold again. */
export interface Project {
  readonly cliVersion: string
  readonly domain: string
  readonly layout: readonly string[]
  /** Whether kinds of several groups are kept apart in folders. */
  readonly multigroup?: boolean
  /** Whether the operator is installed with rights in its own namespace only. */
  readonly namespaced?: boolean
  readonly plugins?: Readonly<Record<string, unknown>>
  readonly projectName: string
  /** Where the sources are kept, as somebody said. */
  readonly repo?: string
  readonly resources?: readonly ProjectResource[]
  readonly version: '3'
}

/** How an operator of `create api --image` runs its containers. */
export interface DeployImageOptions {
  readonly image: string
  readonly containerCommand?: string
  readonly containerPort?: string
  readonly runAsUser?: string
}

const heading = `# What kubewright init and create did here, so that it can be done again: kubewright init --replay.
# Written by the kubewright command; change it with kubewright edit.
`

/** Prints a PROJECT file. */
export function formatProject(project: Project): string {
  return heading + encodeYaml(project)
}

/** Reads a PROJECT file. Throws an error that says what is wrong with it. */
export function parseProject(text: string): Project {
  const fail = (problem: string): never => {
    throw new Error(`PROJECT ${problem}`)
  }
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    return fail(`is no YAML: ${errorText(error)}`)
  }
  if (!isRecord(value)) return fail('is empty: start again with kubewright init')
  const { version, layout: layouts, domain, projectName, resources } = value
  if (version !== '3') fail(`must have version: "3", not ${JSON.stringify(version)}`)
  if (!Array.isArray(layouts) || !layouts.includes(layout)) {
    fail(`has the layout ${JSON.stringify(layouts)}, which another tool made: this one knows ${layout}`)
  }
  if (typeof domain !== 'string' || typeof projectName !== 'string') fail('needs a domain and a projectName')
  for (const [index, resource] of Array.isArray(resources) ? resources.entries() : []) {
    for (const field of ['kind', 'version', 'path']) {
      if (!isRecord(resource) || typeof resource[field] !== 'string') fail(`needs resources[${index}].${field}`)
    }
  }
  // The fields that matter were looked at.
  return value as unknown as Project
}

/** The API group of a resource as the API server knows it. */
export function groupOf({ group, domain, core }: Pick<ProjectResource, 'group' | 'domain' | 'core'>): string {
  if (core && group === 'core') return ''
  return [group, domain].filter((part) => part !== undefined && part !== '').join('.')
}

/** Who the files belong to, and under which license. */
export function rightsOf({ plugins }: Project): { readonly license: 'apache2' | 'none'; readonly owner?: string } {
  const kept = plugins?.[layout]
  if (!isRecord(kept)) return { license: 'apache2' }
  const owner = typeof kept['owner'] === 'string' ? { owner: kept['owner'] } : {}
  return { license: kept['license'] === 'none' ? 'none' : 'apache2', ...owner }
}

/** How the containers of a kind are run that was made with `create api --image`; undefined for other kinds. */
export function deployImageOf(project: Project, resource: ProjectResource): DeployImageOptions | undefined {
  const kept = project.plugins?.[deployImageKey]
  const list: unknown = isRecord(kept) ? kept['resources'] : undefined
  for (const one of Array.isArray(list) ? list : []) {
    if (!isRecord(one) || one['kind'] !== resource.kind || one['group'] !== resource.group) continue
    const { options } = one
    // Written by this program; an image is all that it cannot do without.
    if (isRecord(options) && typeof options['image'] === 'string') return options as unknown as DeployImageOptions
  }
  return undefined
}
