import { calm, type Operation } from '../define/schedule.ts'
import { changeForm, inputForms } from './input-objects.ts'
import type { OperatorFacts } from './operator-facts.ts'
import type { Samples } from './samples.ts'
import type { Variant } from './variants.ts'

/** The number of scenarios at the start: creation, deletion and creation again. */
export const basicScenarios = 5
// Longer than the time at rest.
const rested = 26 * 60_000
// The first ones are usually those that the samples refer to.
const maxInputs = 3
// After two changes of single fields, which are easier to understand.
const combinedPlace = 2

/** The sequences of operations that every operator must handle. */
export function scenariosOf(
  { subjects, list: samples, inputObjects }: Samples,
  { followed }: OperatorFacts,
): (readonly Operation[])[] {
  const followedKinds = new Set(followed.map(({ kind }) => kind))
  const firsts = subjects.flatMap((subject, index) =>
    subjects.findIndex((one) => one.sample === subject.sample) === index ? [index] : [],
  )
  const all = (verb: Operation['do'], after: number): Operation[] =>
    firsts.map((subject) => ({ do: verb, subject, variant: 0, after }))
  const scenarios: (readonly Operation[])[] = [
    all('create', 0),
    [...all('create', 0), ...all('delete', calm)],
    [...all('create', 0), ...all('delete', calm), ...all('create', 20)],
    [...all('create', 0), ...all('delete', 15), ...all('create', calm)],
    [...all('create', 0), ...all('delete', 15)],
  ]
  const changes: (readonly Operation[])[] = []
  const returns: (readonly Operation[])[] = []
  const starts: (readonly Operation[])[] = []
  const endings: (readonly Operation[])[] = []
  const special: (readonly Operation[])[] = []
  for (const subject of firsts) {
    const { variants } = samples[subjects[subject]!.sample]!
    const create: Operation = { do: 'create', subject, variant: 0, after: 0 }
    const others = firsts.filter((one) => one !== subject).map((one): Operation => ({ ...create, subject: one }))
    for (const variant of orderOf(variants)) {
      const change: Operation = { do: 'change', subject, variant, after: calm }
      const back: Operation = { ...change, variant: 0, after: variant % 2 === 0 ? calm : 40 }
      changes.push([...others, create, change])
      // A volume cannot shrink.
      if (!variants[variant]!.isGrowth) {
        returns.push([...others, create, change, back])
        // An object whose first form does not work must recover: it has no pods of an earlier form.
        starts.push([...others, { ...create, variant }, { ...change, variant: 0 }])
      }
      if (variant <= 3) returns.push([...others, create, { ...change, after: 12 }])
      // A deletion must also undo what an earlier form has caused, and must not wait for a form that stops the work.
      endings.push([...others, create, change, ...all('delete', calm)])
    }
  }
  // One sample may refer to another one, which the user creates before or after it.
  for (const order of firsts.length > 1 ? [firsts, firsts.toReversed()] : []) {
    const creations = order.map((subject): Operation => ({ do: 'create', subject, variant: 0, after: calm }))
    special.push([...creations, { do: 'restart', subject: 0, variant: 0, after: rested }])
  }
  const inputs: (readonly Operation[])[] = []
  for (const [subject, { kind, changes: forms, canGo }] of inputObjects.slice(0, maxInputs).entries()) {
    const { original, deleted } = inputForms
    const put = (variant: number, after: number): Operation => ({ do: 'input', subject, variant, after })
    // The sample is created before the object that it refers to.
    if (canGo) inputs.push([put(deleted, 0), ...all('create', 20), put(original, calm)])
    // The sample is deleted when the object is gone, which may come back.
    if (canGo) inputs.push([...all('create', 0), put(deleted, calm), ...all('delete', calm), put(original, calm)])
    // An operator that does not watch the kind may read an input once, by design.
    if (!followedKinds.has(kind)) continue
    for (const [index] of forms.entries()) {
      const changed = put(changeForm(index), calm)
      inputs.splice(index, 0, [...all('create', 0), changed])
      inputs.push([...all('create', 0), changed, put(original, calm)])
    }
    if (canGo) inputs.push([...all('create', 0), put(deleted, calm), put(original, calm)])
  }
  for (const subject of firsts) {
    const create = (one: number): Operation => ({ do: 'create', subject: one, variant: 0, after: 0 })
    const remove = (one: number): Operation => ({ do: 'delete', subject: one, variant: 0, after: calm })
    const change = (variant: number): Operation => ({ do: 'change', subject, variant, after: calm })
    const { refused, variants } = samples[subjects[subject]!.sample]!
    const combined = variants.findIndex(({ parts }) => parts !== undefined)
    // Values that admission must refuse, all in one schedule: the operator sees none of them.
    if (refused.length > 0) {
      const tries = refused.map((_, variant): Operation => ({ do: 'invalid', subject, variant, after: 1000 }))
      special.push([create(subject), ...tries])
    }
    // An object of another owner that resembles a child.
    const neighbors = [0, 1].map((pick): Operation => ({ do: 'neighbor', subject: pick, variant: 0, after: calm }))
    special.push([create(subject), neighbors[0]!, remove(subject)])
    special.push([create(subject), ...neighbors, change(Math.max(1, combined))])
    // Objects that collide: the same name in another namespace, and a second object in the same namespace.
    for (const [twin, { sample }] of subjects.entries()) {
      if (twin === subject || sample !== subjects[subject]!.sample) continue
      special.push([create(subject), create(twin), remove(twin)])
      special.push([create(subject), create(twin), change(1 + (twin % 3))])
      special.push([create(subject), create(twin)])
      if (combined > 0) special.push([create(subject), { ...create(twin), variant: combined }])
    }
    // Deletion and change in the middle of the work.
    for (const actions of [1, 3]) {
      special.push([create(subject), { ...remove(subject), actions }])
      special.push([create(subject), { ...change(actions), actions }])
    }
  }
  return [...scenarios, ...interleaved([changes, special, endings, changes, returns, inputs, starts])]
}

/** The indexes of the changed forms. The combined one, which is the last, comes early. */
function orderOf(variants: readonly Variant[]): number[] {
  const indexes = variants.map((_, index) => index).slice(1)
  if (variants.at(-1)?.parts !== undefined) indexes.splice(combinedPlace, 0, ...indexes.splice(-1))
  return indexes
}

/** The items of several lists in turn. A list that occurs twice has its turn twice as often. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const rest = new Map(lists.map((list) => [list, [...list]]))
  const items: T[] = []
  while ([...rest.values()].some(({ length }) => length > 0)) {
    for (const list of lists) items.push(...rest.get(list)!.splice(0, 1))
  }
  return items
}
