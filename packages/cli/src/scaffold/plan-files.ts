import { mergeTexts } from '../text/merge-texts.ts'
import { mergePackageJson } from './merge-package-json.ts'
import { type ScaffoldEdit, type ScaffoldFile, textOf } from './scaffold-of.ts'

/** The planned change of one file. */
export interface PlannedFile {
  readonly path: string
  /**
   * - `create` and `update` write the text of the scaffold.
   * - `merge` applies the changes of the scaffold to the user's version of the file.
   * - `offer` writes `<path>.new` beside a file in which both changed the same lines.
   * - `keep` writes nothing; `hints` may describe changes to make by hand.
   */
  readonly action: 'create' | 'update' | 'merge' | 'offer' | 'keep'
  /** The current text; undefined if the file does not exist. */
  readonly before: string | undefined
  /** The text to write; undefined for `keep`. */
  readonly after: string | undefined
  /** Changes that the user has to make by hand. */
  readonly hints: readonly string[]
}

/** The input of {@link planFiles}. */
export interface PlanInput {
  /** The scaffold of the project until now. Undefined for a new project, and to write all files as for a new one. */
  readonly old: ReadonlyMap<string, ScaffoldFile> | undefined
  readonly next: ReadonlyMap<string, ScaffoldFile>
  /** Reads a file; undefined if it does not exist. */
  readonly read: (path: string) => string | undefined
  /** Whether changes of the user in a file may be lost. @default never */
  readonly force?: ((path: string) => boolean) | undefined
}

/**
 * Plans the change of each file of the scaffold. No text of the user is lost: a file that equals its old scaffold is replaced, changes to
 * any other file are merged, and for a conflict the new text is put beside the file.
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
  // Users do not edit PROJECT.
  if (found === base || force || path === 'PROJECT') return planned(found === undefined ? 'create' : 'update', after)
  if (base === after) return undefined
  const edits = missingEdits(old, file)
  // A file that the user deleted stays deleted, but the user must know its missing registrations.
  if (found === undefined) return edits && planned('keep', undefined, hintsOf(edits))
  if (edits !== undefined && old?.base === file.base) return planEdits(planned, found, edits)
  const merged = path === 'package.json' ? mergePackageJson(found, after) : base && mergeTexts(base, found, after)
  if (merged === found) return undefined
  return merged === undefined ? planned('offer', after) : planned('merge', merged)
}

/** The edits of the new scaffold that the old one does not have; undefined without an old one or without edits. */
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
