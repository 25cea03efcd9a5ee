import { newBadRequest, newConflict, newNotFound } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { aggregateText, type FieldError, FieldPath, notSupported, required } from '@kubewright/schema'
import type { ObjectAccess } from '../../../../registry/object-access.ts'
import { unclassifiedError } from '../../../../request/unclassified-error.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import type { Resource } from '../../../../resource/resource.ts'
import { setPodCondition } from '../pod-condition.ts'
import type { PodLike } from '../pod-types.ts'
import { podSpecOf } from '../validation/validate-pod.ts'

const pods = { group: '', resource: 'pods' }

/** Checks a binding. As in kube-apiserver, problems yield a 500 without reason instead of validation errors. */
export function checkBinding(binding: MutableObject): void {
  const { kind = '', name = '' } = (binding['target'] ?? {}) as { kind?: string | undefined; name?: string | undefined }
  const errors: FieldError[] = []
  if (kind !== '' && kind !== 'Node') {
    errors.push(notSupported(FieldPath.of('target', 'kind'), kind, ['Node', '<empty>']))
  }
  if (name === '') errors.push(required(FieldPath.of('target', 'name')))
  if (errors.length > 0) throw unclassifiedError(aggregateText(errors))
}

/** Assigns a pod without a node to the node of the binding. Retries when another write came first. */
export async function bindPod(
  { registry }: Pick<ObjectAccess, 'registry'>,
  resource: Resource,
  binding: MutableObject,
  dryRun: boolean,
): Promise<void> {
  const { name = '', namespace = '', uid, resourceVersion, annotations, labels } = binding.metadata
  if (name === '') throw newBadRequest('Name parameter required.')
  for (;;) {
    const existing = await registry.find(resource, namespace, name)
    if (!existing) throw newNotFound(pods, name)
    const pod = existing.copy()
    const found = { uid: pod.metadata.uid ?? '', resourceVersion: String(existing.revision) }
    checkPrecondition('UID', uid, found.uid, existing.key, name)
    checkPrecondition('ResourceVersion', resourceVersion, found.resourceVersion, existing.key, name)
    const problem = bindingProblem(pod, name)
    if (problem) throw newConflict({ group: '', resource: 'pods/binding' }, name, problem)
    podSpecOf(pod).nodeName = (binding['target'] as { name: string }).name
    const status = (pod['status'] ??= {}) as NonNullable<PodLike['status']>
    delete status.nominatedNodeName
    if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
    if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels }
    setPodCondition(status, registry.timestamp(), { type: 'PodScheduled', status: 'True' })
    if (dryRun) return
    if (await registry.swap(existing, resource.codec.toClientForm(pod, true), resource)) return
  }
}

function bindingProblem(pod: MutableObject, name: string): string | undefined {
  const spec = podSpecOf(pod)
  if (pod.metadata.deletionTimestamp !== undefined) {
    return `pod ${name} is being deleted, cannot be assigned to a host`
  }
  if (spec.nodeName) return `pod ${name} is already assigned to node ${goQuote(spec.nodeName)}`
  if ((spec.schedulingGates ?? []).length > 0) return `pod ${name} has non-empty .spec.schedulingGates`
  return undefined
}

function checkPrecondition(what: string, wanted: string | undefined, found: string, key: string, name: string): void {
  if (!wanted || wanted === found) return
  const why =
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
  throw newConflict(pods, name, why)
}
