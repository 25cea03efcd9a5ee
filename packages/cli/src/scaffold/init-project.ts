import { isDNS1123Label, isDNS1123Subdomain } from '@kubewright/base'
import { UsageError } from '../usage-error.ts'
import { kubewrightVersion } from './pinned-versions.ts'
import { layout, type Project } from './project.ts'

/** What `init` was asked for. */
export interface InitOptions {
  readonly domain: string
  readonly projectName: string
  /** Where the sources are kept: `github.com/jane/homes`. */
  readonly repo?: string | undefined
  readonly owner?: string | undefined
  readonly license?: string | undefined
  readonly multigroup?: boolean | undefined
  readonly namespaced?: boolean | undefined
}

/** A project without kinds. Throws {@link UsageError} for what cannot be. */
export function initProject(options: InitOptions): Project {
  const { domain, projectName, repo, owner, multigroup, namespaced } = options
  const license = checkLicense(options.license ?? 'apache2')
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
  throw new UsageError(`--repo must be where the sources are, such as github.com/jane/homes, not "${repo}"`)
}

/** Checks the value of `--license`. */
export function checkLicense(license: string): 'apache2' | 'none' {
  if (license === 'apache2' || license === 'none') return license
  throw new UsageError(`--license must be apache2 or none, not "${license}"`)
}

/** Checks the value of `--owner`, which becomes part of a comment. */
export function checkOwner(owner: string | undefined): void {
  if (owner !== undefined && /\p{Cc}|\p{Zl}|\p{Zp}/u.test(owner))
    throw new UsageError('--owner must be one line of text')
}

/** A project name made of a folder's name, as far as there is one. */
export function suggestName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'my-operator' : name
}
