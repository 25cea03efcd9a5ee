import { type GeneratedFiles, isMarked, provenanceOf } from './generated-file.ts'
import { generatedAnnotation } from './webhook-objects.ts'

/** What is to be done with one file. */
export interface FilePlan {
  readonly path: string
  /**
   * `kept`: changed by people and left alone; `outdated`: kept, although what is made now differs from what was made then;
   * `stale`: no longer made, but changed by people and therefore kept.
   */
  readonly action: 'create' | 'update' | 'remove' | 'unchanged' | 'kept' | 'outdated' | 'stale'
  readonly before: string | undefined
  readonly after: string | undefined
  /** Present for what is kept because it is written once, whoever changed it. */
  readonly isOnce?: true
}

/** What {@link planFiles} takes. */
export interface PlanFilesOptions {
  readonly files: GeneratedFiles
  /** The texts that there are now, by path: all files in the folders that files are made in. */
  readonly present: ReadonlyMap<string, string>
  /** Writes over what people changed. @default false */
  readonly force?: boolean | undefined
}

/** Finds out what has to be written, and what must not. */
export function planFiles({ files, present, force = false }: PlanFilesOptions): FilePlan[] {
  const plans: FilePlan[] = []
  for (const [path, { text: after, care }] of files) {
    const before = present.get(path)
    const plan = (action: FilePlan['action']): void => void plans.push({ path, action, before, after })
    if (before === undefined) plan('create')
    else if (before === after) plan('unchanged')
    else if (care === 'derived') plan('update')
    else if (care === 'once') plans.push({ path, action: 'kept', before, after, isOnce: true })
    else {
      const { isUntouched, madeAs } = provenanceOf(before)
      if (isUntouched || force) plan('update')
      else plan(madeAs === undefined || madeAs === provenanceOf(after).madeAs ? 'kept' : 'outdated')
    }
  }
  for (const [path, before] of present) {
    if (files.has(path)) continue
    const { isUntouched, madeAs } = provenanceOf(before)
    if (isUntouched || isDerived(path, before)) plans.push({ path, action: 'remove', before, after: undefined })
    else if (madeAs !== undefined) plans.push({ path, action: 'stale', before, after: undefined })
  }
  return plans.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Whether a plan changes anything on the disk. */
export function isChange({ action }: FilePlan): boolean {
  return action === 'create' || action === 'update' || action === 'remove'
}

/** Whether a file without a heading was made here. */
function isDerived(path: string, text: string): boolean {
  if (path === 'config/webhook/manifests.yaml' || isMarked(text)) return true
  return path.startsWith('config/crd/bases/') && text.includes(`${generatedAnnotation}: "true"`)
}
