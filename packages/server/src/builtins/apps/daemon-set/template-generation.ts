import type { MutableObject } from '../../../resource/object.ts'

// The template generation of a DaemonSet counts the changes of its pod template. kube-apiserver's internal type has a field for it;
// clients see an annotation.
const key = 'deprecated.daemonset.template.generation'

/** The template generation of a DaemonSet; 0 when the annotation is missing or no number. */
export function templateGeneration({ metadata }: MutableObject): number {
  return Number(metadata.annotations?.[key] ?? 0) || 0
}

/** Sets the template generation of a DaemonSet. */
export function setTemplateGeneration({ metadata }: MutableObject, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [key]: String(generation) }
}

/** Removes the annotation, as in kube-apiserver's internal type. */
export function withoutTemplateGeneration(object: MutableObject): MutableObject {
  const { annotations, ...metadata } = object.metadata
  const { [key]: _, ...others } = annotations ?? {}
  return { ...object, metadata: { ...metadata, ...(Object.keys(others).length > 0 ? { annotations: others } : {}) } }
}

/** Adds the annotation to a DaemonSet without fields. */
export function emptyDaemonSet(empty: MutableObject): MutableObject {
  return { ...empty, metadata: { ...empty.metadata, annotations: { [key]: '0' } } }
}
