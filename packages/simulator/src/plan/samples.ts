import type { AnyKind, KubeObject } from '@kubewright/api'
import type { InputObject } from './input-objects.ts'
import type { FormMetadata } from './metadata-variants.ts'
import { retains } from './retention.ts'
import type { Variant } from './variants.ts'

/** The second namespace: each subject has a twin in it. */
export const otherNamespace = 'other'

/** A custom resource that the user of a schedule creates, changes and deletes. */
export interface Subject {
  readonly kind: AnyKind
  readonly namespace: string | undefined
  readonly name: string
  /** As in {@link objectId}. */
  readonly id: string
  readonly collection: string
  readonly sample: number
}

/** A given or generated object, with its forms. */
export interface Sample {
  readonly kind: AnyKind
  readonly metadata: FormMetadata & { readonly name: string }
  readonly variants: readonly Variant[]
  /** Forms that the server refuses to create, with its message. */
  readonly refused: readonly RefusedVariant[]
}

export interface RefusedVariant extends Variant {
  readonly message: string
}

/** The objects that the user of a schedule works with, and their forms. Operations refer to them by index. */
export class Samples {
  readonly list: readonly Sample[]
  readonly subjects: readonly Subject[]
  /** Whether the author has given the samples of the operator's kinds. */
  readonly isGiven: boolean
  /** The other objects that the author gave, which the user of a schedule changes. */
  readonly inputObjects: readonly InputObject[]
  readonly #isHeld: ((object: KubeObject) => boolean) | undefined

  constructor(
    list: readonly Sample[],
    given: readonly KubeObject[],
    inputObjects: readonly InputObject[],
    isHeld: ((object: KubeObject) => boolean) | undefined,
  ) {
    this.list = list
    this.subjects = list.flatMap((sample, index) => subjectsOf(sample, index))
    const kinds = new Set(given.map(({ kind }) => kind))
    this.isGiven = list.every(({ kind }) => kinds.has(kind.kind))
    this.inputObjects = inputObjects
    this.#isHeld = isHeld
  }

  isSubjectKind(kind: string): boolean {
    return this.list.some((sample) => sample.kind.kind === kind)
  }

  /** The index of the subject that an object is; -1 if it is none. */
  indexOf({ kind, metadata }: KubeObject): number {
    return this.subjects.findIndex(
      (one) => one.kind.kind === kind && one.name === metadata.name && one.namespace === metadata.namespace,
    )
  }

  formOf({ sample }: Subject, variant: number): Variant {
    const { variants } = this.list[sample]!
    return variants[variant % variants.length]!
  }

  /** Whether the form of a subject makes the operator stop its work. */
  isHeld(subject: Subject, variant: number): boolean {
    const { body, isHeld = false } = this.formOf(subject, variant)
    return this.#isHeld?.(this.objectOf(subject, body) as KubeObject) ?? isHeld
  }

  /** Whether something of a form of a subject stays on purpose when it is deleted. */
  isRetained(subject: Subject, variant: number): boolean {
    const spec = subject.kind.schema.properties?.['spec']
    return spec !== undefined && retains(spec, this.formOf(subject, variant).body['spec'])
  }

  objectOf(subject: Subject, body: object): object {
    const { metadata } = this.list[subject.sample]!
    const { apiVersion, kind } = subject.kind
    const { metadata: own, ...fields } = body as { metadata?: FormMetadata | undefined }
    const named = { ...metadata, ...own, name: subject.name, namespace: subject.namespace }
    return { apiVersion, kind, metadata: named, ...fields }
  }
}

/** The path of the objects of a kind. */
export function collectionPath({ group, version, plural, scope }: AnyKind, namespace: string | undefined): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return scope === 'Namespaced' ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`
}

function subjectsOf({ kind, metadata: { name } }: Sample, sample: number): Subject[] {
  const subject = (namespace: string | undefined, name: string): Subject => {
    const id = `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
    return { kind, namespace, name, id, collection: collectionPath(kind, namespace), sample }
  }
  if (kind.scope === 'Cluster') return [subject(undefined, name), subject(undefined, `${name}-2`)]
  return [subject('default', name), subject(otherNamespace, name), subject('default', `${name}-2`)]
}
