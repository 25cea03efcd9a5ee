import type { AnyKind, KubeObject } from '@kubewright/api'
import type { Operator } from '@kubewright/runtime'
import type { Variant } from './variants.ts'

type Texts = Readonly<Record<string, string>>

export interface FormMetadata {
  readonly labels?: Texts | undefined
  readonly annotations?: Texts | undefined
}

const fields = ['labels', 'annotations'] as const
const maxChanges = 4

/** Whether the objects of a kind say by their labels and annotations what an operator must do: kinds of Kubernetes have no field for it. */
export const isBuiltin = ({ group }: AnyKind): boolean => !group.includes('.') || group.endsWith('.k8s.io')

/** The label selectors of an operator. It does not see that an object no longer matches one of them. */
export function selectorsOf({ controllers }: Operator): readonly string[] {
  return controllers.flatMap((one) => {
    const own = 'selector' in one ? [one.selector] : []
    const watched = 'watches' in one ? [...one.owns, ...one.watches].map(({ selector }) => selector) : []
    return [...own, ...watched].filter((selector) => selector !== undefined)
  })
}

/**
 * The forms of an object with another value of a given label or annotation, or without it. Values that are no words only go, and
 * labels of `selectors` stay. The bodies have the changed metadata.
 */
export function metadataVariantsOf(body: object, given: FormMetadata, selectors: readonly string[]): Variant[] {
  const found: Variant[] = []
  for (const field of fields) {
    for (const [key, value] of Object.entries(given[field] ?? {})) {
      if (selectors.some((selector) => selector.includes(key))) continue
      const { [key]: _, ...rest } = given[field]!
      const form = (values: Texts, shown: string): Variant => ({
        text: `metadata.${field}.${key} ${shown}`,
        body: { ...body, metadata: { [field]: values } },
      })
      if (word.test(value) && !switches.test(value)) found.push(form({ ...rest, [key]: `${value}2` }, `= "${value}2"`))
      found.push(form(rest, 'removed'))
    }
  }
  return found.slice(0, maxChanges)
}

/**
 * The form of an object in which every given label and annotation of one word has another value, except for labels of `selectors`. Empty
 * if there is none. One form is enough for a custom resource, whose spec says most of what the operator must do.
 */
export function relabeledOf(body: object, given: FormMetadata, selectors: readonly string[]): Variant[] {
  const texts: string[] = []
  const changed = ([key, value]: readonly [string, string]): readonly [string, string] => {
    const isFixed = !word.test(value) || switches.test(value) || value.length >= maxLabel
    if (isFixed || selectors.some((selector) => selector.includes(key))) return [key, value]
    texts.push(`metadata: ${key} = "${value}2"`)
    return [key, `${value}2`]
  }
  const entries = fields.flatMap((field) => {
    const values = Object.entries(given[field] ?? {}).map(changed)
    return values.length === 0 ? [] : [[field, Object.fromEntries(values)] as const]
  })
  if (texts.length === 0) return []
  return [{ text: texts.join(', '), body: { ...body, metadata: Object.fromEntries(entries) } }]
}

const maxLabel = 63
const word = /^[a-z][a-z0-9-]*$/i
const switches = /^(true|false|yes|no|on|off|enabled|disabled)$/i

/** The metadata of a live object in a form: others may have added labels and annotations to the `given` ones. */
export function metadataOf(
  live: KubeObject['metadata'],
  given: FormMetadata,
  form: FormMetadata | undefined,
): KubeObject['metadata'] {
  const result: Record<string, unknown> = { ...live }
  for (const field of fields) {
    const before = given[field]
    if (before === undefined) continue
    const foreign = Object.entries(live[field] ?? {}).filter(([key]) => before[key] === undefined)
    result[field] = { ...Object.fromEntries(foreign), ...(form?.[field] ?? before) }
  }
  return result as unknown as KubeObject['metadata']
}
