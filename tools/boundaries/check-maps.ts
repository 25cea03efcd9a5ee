// The pages that list the packages and their dependencies for readers.

/** The pages that must agree with the packages. */
export interface Maps {
  readonly agents: string
  readonly readme: string
  /** The decision that lists the runtime dependencies. */
  readonly dependencies: string
}

/** A package as its manifest describes it: the name of its folder and the names of its third-party dependencies. */
export interface MappedPackage {
  readonly folder: string
  readonly dependencies: readonly string[]
}

/**
 * Compares the maps with the packages: AGENTS.md and README.md list every package and no other one, and the decision about
 * runtime dependencies has one row for each dependency, which names the packages that declare it.
 */
export function mapProblems(packages: readonly MappedPackage[], maps: Maps): string[] {
  const folders = packages.map(({ folder }) => folder)
  const users = new Map<string, string[]>()
  for (const { folder, dependencies } of packages) {
    for (const name of dependencies) users.set(name, [...(users.get(name) ?? []), folder])
  }
  const rows = new Map(
    [...maps.dependencies.matchAll(/^\| ([a-z0-9@/.-]+) \| ([^|]*) \|/gm)]
      .filter(([, name]) => name !== 'package' && !name!.startsWith('-'))
      .map(([, name, usedBy]) => [name!, [...usedBy!.matchAll(/`([a-z0-9-]+)`/g)].map((match) => match[1]!)]),
  )
  return [
    ...difference('The tree of AGENTS.md', folders, namesIn(maps.agents, /^ {2}([a-z0-9-]+)\/ /gm)),
    ...difference('The table of README.md', folders, namesIn(maps.readme, /^\| \[([a-z0-9-]+)\]\(packages\//gm)),
    ...difference('The table of ADR 2', [...users.keys()], [...rows.keys()]),
    ...[...users].flatMap(([name, declaring]) =>
      declaring
        .filter((folder) => rows.has(name) && !rows.get(name)!.includes(folder))
        .map((folder) => `The table of ADR 2: the row of ${name} lacks \`${folder}\`, whose package.json declares it`),
    ),
  ]
}

const namesIn = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map((match) => match[1]!)

const difference = (title: string, expected: readonly string[], listed: readonly string[]): string[] => [
  ...expected.filter((name) => !listed.includes(name)).map((name) => `${title} lacks ${name}`),
  ...listed.filter((name) => !expected.includes(name)).map((name) => `${title} names ${name}, which does not exist`),
]
