import { isDNS1035Label, isDNS1123Label, isDNS1123Subdomain, UsageError } from '@kubewright/base'

/** Checks the name of a kind. The error suggests a valid one. */
export function checkKind(kind: string): string {
  if (kind === 'Infer' || kind === 'Draft')
    throw new UsageError(
      `--kind must not be ${kind}: the generated file imports a type of that name; choose another name`,
    )
  if (/^[A-Z][A-Za-z0-9]*$/.test(kind) && kind.length <= 63) return kind
  const words = kind.split(/[^A-Za-z0-9]+/).filter((word) => /^[A-Za-z]/.test(word))
  const camel = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  throw new UsageError(
    `--kind must be one word in CamelCase of 63 characters at most, such as "${camel.slice(0, 63) || 'Home'}", not "${kind}"`,
  )
}

/** Checks the name of a version. */
export function checkVersion(version: string): string {
  if (/^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/.test(version)) return version
  throw new UsageError(`--version must have the form v1, v1alpha1 or v2beta1, not "${version}"`)
}

/** Checks the plural of a kind. */
export function checkPlural(plural: string): string {
  if (isDNS1035Label(plural).length === 0) return plural
  throw new UsageError(`--plural must be lower case letters, digits and dashes, such as "homes", not "${plural}"`)
}

/** Checks the name of a controller. */
export function checkControllerName(name: string): string {
  if (isDNS1123Label(name).length === 0) return name
  throw new UsageError(
    `--controller-name must be lower case letters, digits and dashes, such as "home-backup", not "${name}"`,
  )
}

/** Checks a group name, which must not include the project's domain. Returns undefined if no group is given; the API group is then the domain. */
export function shortGroup(group: string | undefined, domain: string): string | undefined {
  if (group === undefined || group === '') return undefined
  if (isDNS1123Subdomain(group).length > 0) {
    throw new UsageError(`--group must be lower case letters, digits, dashes and dots, such as "apps", not "${group}"`)
  }
  if (group === domain || group.endsWith(`.${domain}`)) {
    const short = group.slice(0, -domain.length - 1)
    throw new UsageError(
      `--group must not include the domain ${domain}: ${short === '' ? 'leave it out' : `write --group ${short}`}`,
    )
  }
  return group
}
