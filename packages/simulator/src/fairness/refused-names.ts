import { objectId, textsIn } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'

const refusedChild = /Cannot apply \S+ (\S+) as a child of (\S+) (\S+): it is controlled by (\S+) /

/**
 * Whose choice the name of a child was that another object of the same kind has, according to an error. Users are responsible for names
 * that they choose: then the spec has it, or a part of it.
 */
export function refusedNameOf(
  { objects }: Run,
  error: string,
): 'derived by the operator' | 'chosen by the user' | undefined {
  const [, child = '', kind = '', owner = '', other = ''] = refusedChild.exec(error) ?? []
  const subject = objects.find((object) => objectId(object) === `${kind} ${owner}`) as { spec?: unknown } | undefined
  if (kind === '' || kind !== other || subject === undefined) return undefined
  const name = child.slice(child.indexOf('/') + 1)
  const isChosen = textsIn(subject.spec).some((text) => text.length > 2 && (name.includes(text) || text.includes(name)))
  return isChosen ? 'chosen by the user' : 'derived by the operator'
}
