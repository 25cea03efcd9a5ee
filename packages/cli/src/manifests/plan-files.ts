import { mergeTexts } from '../text/merge-texts.ts'
import { type GeneratedFiles, isChangedDerived, isMarked, provenanceOf } from './generated-file.ts'
import { generatedAnnotation } from './webhook-objects.ts'

/** The planned change of one file. */
export interface FilePlan {
  readonly path: string
  /**
   * `merge`: new content is merged into a file that the user changed; `replace`: a change of the user is lost, because the file is derived
   * from the code, or by force; `kept`: the user changed the file; `outdated`: the user changed it, and the generated text has changed too;
   * `stale`: the user changed it, and it is no longer generated.
   */
  readonly action: 'create' | 'update' | 'merge' | 'replace' | 'remove' | 'unchanged' | 'kept' | 'outdated' | 'stale'
  readonly before: string | undefined
  readonly after: string | undefined
  /** Present if the file is kept because it is written only once. */
  readonly isOnce?: true | undefined
}

/** The input of {@link planFiles}. */
export interface PlanFilesOptions {
  readonly files: GeneratedFiles
  /** The existing files by path, of all folders with generated files. */
  readonly present: ReadonlyMap<string, string>
  /** Overwrites files that the user changed. @default false */
  readonly force?: boolean | undefined
}

/** Plans which files are written, removed and kept. */
export function planFiles({ files, present, force = false }: PlanFilesOptions): FilePlan[] {
  const plans: FilePlan[] = []
  for (const [path, { text: after, care, base }] of files) {
    const before = present.get(path)
    const plan = (action: FilePlan['action']): void => void plans.push({ path, action, before, after })
    if (before === undefined) plan('create')
    else if (before === after) plan('unchanged')
    else if (care === 'derived') plan(isChangedDerived(before) ? 'replace' : 'update')
    else if (care === 'once') plans.push({ path, action: 'kept', before, after, isOnce: true })
    else {
      const { isUntouched, madeAs } = provenanceOf(before)
      const isCurrent = madeAs === undefined || madeAs === provenanceOf(after).madeAs
      if (isUntouched) plan('update')
      else if (force) plan('replace')
      else if (isCurrent) plan('kept')
      else {
        const isBase = base !== undefined && provenanceOf(base).madeAs === madeAs
        const merged = isBase ? mergeTexts(base, before, after) : undefined
        if (merged === undefined) plan('outdated')
        else plans.push({ path, action: 'merge', before, after: merged })
      }
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

/** Whether a plan writes or removes a file. */
export function isChange({ action }: FilePlan): boolean {
  return writes.includes(action)
}

const writes: readonly FilePlan['action'][] = ['create', 'update', 'merge', 'replace', 'remove']

/** The texts of all files after the plans are carried out. */
export function textsAfter(plans: readonly FilePlan[], present: ReadonlyMap<string, string>): Map<string, string> {
  const texts = new Map(present)
  for (const plan of plans) {
    if (!isChange(plan)) continue
    if (plan.after === undefined) texts.delete(plan.path)
    else texts.set(plan.path, plan.after)
  }
  return texts
}

/** Whether a file without a heading was generated. */
function isDerived(path: string, text: string): boolean {
  if (path === 'config/webhook/manifests.yaml' || isMarked(text)) return true
  return path.startsWith('config/crd/bases/') && text.includes(`${generatedAnnotation}: "true"`)
}
