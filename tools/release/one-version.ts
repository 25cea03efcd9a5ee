/** The fields of a package.json that a release changes. */
export interface ReleaseManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const dependencyFields = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const

/** Whether a package belongs to this repository. */
export function isOwn(name: string): boolean {
  return name === 'kubewright' || name === 'create-kubewright' || name.startsWith('@kubewright/')
}

/** A manifest with another version of the package and of the packages of this repository that it needs. */
export function withVersion<M extends ReleaseManifest>(manifest: M, version: string): M {
  const changed: Partial<Record<string, unknown>> = { ...(manifest as object), version }
  for (const field of dependencyFields) {
    const wanted = manifest[field]
    if (wanted === undefined) continue
    changed[field] = Object.fromEntries(
      Object.entries(wanted).map(([name, range]) => [name, isOwn(name) ? version : range]),
    )
  }
  // Only values of existing fields have changed.
  return changed as unknown as M
}

/** The problems of manifests that do not share one version. */
export function versionProblems(manifests: readonly ReleaseManifest[], version: string): string[] {
  return manifests.flatMap((manifest) => {
    const own = manifest.version === version ? [] : [`${manifest.name} has version ${manifest.version}, not ${version}`]
    const needed = dependencyFields.flatMap((field) => Object.entries(manifest[field] ?? {}))
    const others = needed.filter(([name, range]) => isOwn(name) && range !== version)
    return [...own, ...others.map(([name, range]) => `${manifest.name} needs ${name} ${range}, not ${version}`)]
  })
}

/** Sorts packages so that each comes after the packages of this repository that it needs. */
export function inPublishOrder<M extends ReleaseManifest>(manifests: readonly M[]): M[] {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]))
  const order = new Set<M>()
  const visit = (manifest: M): void => {
    if (order.has(manifest)) return
    const needed = { ...manifest.dependencies, ...manifest.optionalDependencies }
    for (const name of Object.keys(needed).sort()) {
      const dependency = byName.get(name)
      if (dependency !== undefined) visit(dependency)
    }
    order.add(manifest)
  }
  for (const manifest of manifests) visit(manifest)
  return [...order]
}

const heading = /^## (\S+) \(unreleased\)$/m

/** The changelog with the date of a release instead of "unreleased", and a new section for the next one. */
export function releasedChangelog(text: string, version: string, date: string): string {
  if (!heading.test(text)) throw new Error('CHANGELOG.md has no section "## VERSION (unreleased)"')
  return text.replace(heading, `## ${version} (${date})`)
}

/** The section of a version, without its heading. */
export function changesOf(text: string, version: string): string {
  const sections = text.split(/^## /m)
  const found = sections.find((section) => section.startsWith(`${version} `))
  if (found === undefined) throw new Error(`CHANGELOG.md has no section of ${version}`)
  return found.slice(found.indexOf('\n')).trim()
}
