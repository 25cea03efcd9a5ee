import { isDNS1123Label, isDNS1123Subdomain, UsageError } from '@kubewright/base'
import { kubewrightVersion } from './pinned-versions.ts'
import { layout, type Project } from './project.ts'

/** The options of `init`. */
export interface InitOptions {
  readonly domain: string
  readonly projectName: string
  /** The repository of the sources: `github.com/jane/homes`. */
  readonly repo?: string | undefined
  readonly owner?: string | undefined
  /** @default 'apache2' */
  readonly license?: 'apache2' | 'none' | undefined
  readonly multigroup?: boolean | undefined
  readonly namespaced?: boolean | undefined
}

/** A project without kinds. Throws {@link UsageError} for invalid options. */
export function initProject(options: InitOptions): Project {
  const { domain, projectName, repo, owner, license = 'apache2', multigroup, namespaced } = options
  checkOwner(owner)
  const [nameProblem] = isDNS1123Label(projectName)
  if (nameProblem !== undefined) {
    throw new UsageError(
      `--project-name must be lower case letters, digits and dashes, such as "${suggestName(projectName)}", not "${projectName}"`,
    )
  }
  const [domainProblem] = isDNS1123Subdomain(domain)
  if (domainProblem !== undefined || !domain.includes('.')) {
    throw new UsageError(`--domain must be a domain that you own, such as "example.com", not "${domain}"`)
  }
  return {
    cliVersion: kubewrightVersion,
    domain,
    layout: [layout],
    ...(multigroup ? { multigroup } : {}),
    ...(namespaced ? { namespaced } : {}),
    plugins: { [layout]: { license, ...(owner === undefined || owner === '' ? {} : { owner }) } },
    projectName,
    ...(repo === undefined ? {} : { repo: checkRepo(repo) }),
    version: '3',
  }
}

/** Checks the value of `--repo`. */
function checkRepo(repo: string): string {
  if (/^[\w@][\w.~@:/+-]*$/.test(repo)) return repo
  throw new UsageError(`--repo must be a repository, such as github.com/jane/homes, not "${repo}"`)
}

/** Checks the value of `--owner`. It must be one line, because it becomes part of a comment. */
export function checkOwner(owner: string | undefined): void {
  if (owner !== undefined && /\p{Cc}|\p{Zl}|\p{Zp}/u.test(owner))
    throw new UsageError(`--owner must be one line of text, not ${JSON.stringify(owner)}`)
}

/** A valid project name that resembles a text, such as the name of a folder. */
export function suggestName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'my-operator' : name
}
