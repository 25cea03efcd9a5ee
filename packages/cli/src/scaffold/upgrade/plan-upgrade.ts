import { mergeWithConflicts } from './merge-conflicts.ts'
import { mergeJson } from './merge-json.ts'

/** The planned change of one file. */
export interface UpgradedFile {
  readonly path: string
  /**
   * - `create`, `update` and `remove` concern files without changes of the user.
   * - `merge` combines the changes of the user with those of the new version.
   * - `conflict` does the same and marks lines that both changed.
   * - `offer` writes `<path>.new`, because both sides have created the file.
   * - `keep` leaves a file that the user changed or deleted, and that the new version changes or no longer has.
   */
  readonly action: 'create' | 'update' | 'merge' | 'conflict' | 'offer' | 'keep' | 'remove'
  readonly before: string | undefined
  /** The text to write; undefined for `keep` and `remove`. */
  readonly after: string | undefined
  /** What the user should know or do. */
  readonly notes: readonly string[]
}

/** The input of {@link planUpgrade}. */
export interface UpgradeInput {
  /** The files as the old version has scaffolded them. */
  readonly base: ReadonlyMap<string, string>
  /** The files as the new version scaffolds them. */
  readonly next: ReadonlyMap<string, string>
  /** Reads a file of the project; undefined if it does not exist. */
  readonly read: (path: string) => string | undefined
  readonly versions: { readonly old: string; readonly new: string }
}

/**
 * Plans a three-way merge of every file of the scaffold: as the old version wrote it, as the user has it, as the new version
 * writes it. No line of the user is lost.
 */
export function planUpgrade({ base, next, read, versions }: UpgradeInput): UpgradedFile[] {
  const paths = [...new Set([...next.keys(), ...base.keys()])]
  return paths.flatMap((path) => planFile(path, base.get(path), read(path), next.get(path), versions) ?? [])
}

function planFile(
  path: string,
  base: string | undefined,
  ours: string | undefined,
  theirs: string | undefined,
  versions: UpgradeInput['versions'],
): UpgradedFile | undefined {
  const planned = (
    action: UpgradedFile['action'],
    after: string | undefined,
    ...notes: readonly string[]
  ): UpgradedFile => ({ path, action, before: ours, after, notes })
  if (base === theirs || ours === theirs) return undefined
  // Users do not edit PROJECT.
  if (path === 'PROJECT') return planned('update', theirs)
  if (theirs === undefined) {
    if (ours === undefined) return undefined
    if (ours === base) return planned('remove', undefined)
    return planned(
      'keep',
      undefined,
      `${path} has changes of yours and is no longer part of the scaffold: delete it if you do not need it`,
    )
  }
  if (ours === undefined) {
    if (base === undefined) return planned('create', theirs)
    return planned('keep', undefined, `${path} was deleted by you and changed in ${versions.new}: it stays deleted`)
  }
  if (ours === base) return planned('update', theirs)
  if (base === undefined) {
    return planned(
      'offer',
      theirs,
      `${path} exists and is new in the scaffold: merge ${path}.new into it, then delete ${path}.new`,
    )
  }
  const json = path.endsWith('package.json') ? mergeJson(base, ours, theirs) : undefined
  if (json !== undefined) {
    const notes = json.kept.map(
      (field) =>
        `${path}: ${field.path} stays ${shown(field.ours)}, which you have set; ${versions.new} has ${shown(field.theirs)}`,
    )
    if (json.text === ours) return notes.length === 0 ? undefined : planned('keep', undefined, ...notes)
    return planned('merge', json.text, ...notes)
  }
  const names = { ours: 'yours', base: `kubewright ${versions.old}`, theirs: `kubewright ${versions.new}` }
  const { text, conflicts } = mergeWithConflicts(base, ours, theirs, names)
  if (text === ours) return undefined
  if (conflicts === 0) return planned('merge', text)
  const count = conflicts === 1 ? 'a conflict' : `${conflicts} conflicts`
  return planned('conflict', text, `${path} has ${count}: resolve the parts between <<<<<<< and >>>>>>>`)
}

const shown = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value))
