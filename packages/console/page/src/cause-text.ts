import type { CauseView } from '../../src/wire/operator-view.ts'

/** A cause in one line, such as `update apps/v1 Deployment default/web: .spec.replicas by kubectl`. */
export function causeText({ event, kind, object, paths = [], by = [], count }: CauseView): string {
  const subject = [event, kind, object].filter(Boolean).join(' ')
  const fields = paths.length === 0 ? '' : `: ${paths.join(', ')}`
  const writers = by.length === 0 ? '' : ` · ${by.join(', ')}`
  return `${subject}${fields}${writers}${count > 1 ? ` ×${count}` : ''}`
}
