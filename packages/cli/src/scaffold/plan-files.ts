import { mergePackageJson } from './merge-package-json.ts'
import { mergeTexts } from './merge-texts.ts'
import { type ScaffoldEdit, type ScaffoldFile, textOf } from './scaffold-of.ts'

/** What is going to happen to one file. */
export interface PlannedFile {
  readonly path: string
  /**
   * `create` and `update` write what the scaffold has; `merge` makes the scaffold's changes in what the user made of the file; `offer`
   * writes `<path>.new` beside a file in which both changed the same; `keep` writes nothing, and `hints` may say what to do.
   */
  readonly action: 'create' | 'update' | 'merge' | 'offer' | 'keep'
  /** What is there now; undefined when nothing is. */
  readonly before: string | undefined
  /** What is written; undefined for `keep`. */
  readonly after: string | undefined
  /** What the user has to do by hand. */
  readonly hints: readonly string[]
}

/** What {@link planFiles} looks at. */
export interface PlanInput {
  /** The scaffold as PROJECT has it until now; undefined when there is none, or when it is to be written as if there were none. */
  readonly old: ReadonlyMap<string, ScaffoldFile> | undefined
  readonly next: ReadonlyMap<string, ScaffoldFile>
  /** What is in the folder; undefined for files that do not exist. */
  readonly read: (path: string) => string | undefined
  /** Whether what the user made of a file may be lost. */
  readonly force?: (path: string) => boolean
}

/**
 * Decides for each file of the scaffold what to do with it, so that nothing that a user wrote is lost: files that are as the scaffold
 * had them are replaced, changes to others are merged, and where that cannot be the new text is put beside the old one.
 */
export function planFiles({ old, next, read, force = () => false }: PlanInput): PlannedFile[] {
  const plan: PlannedFile[] = []
  for (const [path, file] of next) {
    const planned = planFile(path, old?.get(path), file, read(path), force(path))
    if (planned) plan.push(planned)
  }
  return plan
}

function planFile(
  path: string,
  old: ScaffoldFile | undefined,
  file: ScaffoldFile,
  found: string | undefined,
  force: boolean,
): PlannedFile | undefined {
  const after = textOf(file)
  const base = old && textOf(old)
  const planned = (action: PlannedFile['action'], text?: string, hints: readonly string[] = []): PlannedFile => ({
    path,
    action,
    before: found,
    after: text,
    hints,
  })
  if (found === after) return undefined
  if (found === undefined && (old === undefined || force)) return planned('create', after)
  // PROJECT is the commands' own.
  if (found === base || force || path === 'PROJECT') return planned(found === undefined ? 'create' : 'update', after)
  if (base === after) return undefined
  const edits = missingEdits(old, file)
  // Whoever deleted a file does not want it back; but what would have been in it must go somewhere.
  if (found === undefined) return edits && planned('keep', undefined, hintsOf(edits))
  if (edits !== undefined && old?.base === file.base) return planEdits(planned, found, edits)
  const merged = path === 'package.json' ? mergePackageJson(found, after) : base && mergeTexts(base, found, after)
  if (merged === found) return undefined
  return merged === undefined ? planned('offer', after) : planned('merge', merged)
}

/** The edits that the new scaffold has on top of the old one; undefined when some of the old ones are gone. */
function missingEdits(old: ScaffoldFile | undefined, file: ScaffoldFile): readonly ScaffoldEdit[] | undefined {
  if (old === undefined || file.edits.length === 0) return undefined
  const made = new Set(old.edits.map(({ id }) => id))
  return file.edits.filter(({ id }) => !made.has(id))
}

function planEdits(
  planned: (action: PlannedFile['action'], text?: string, hints?: readonly string[]) => PlannedFile,
  found: string,
  edits: readonly ScaffoldEdit[],
): PlannedFile | undefined {
  let text = found
  const refused: ScaffoldEdit[] = []
  for (const edit of edits) {
    const changed = edit.apply(text)
    if (changed === undefined) refused.push(edit)
    else text = changed
  }
  if (text === found && refused.length === 0) return undefined
  return text === found ? planned('keep', undefined, hintsOf(refused)) : planned('merge', text, hintsOf(refused))
}

function hintsOf(edits: readonly ScaffoldEdit[]): string[] {
  return edits.map(({ hint }) => hint)
}
