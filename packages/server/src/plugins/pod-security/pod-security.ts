import { newInvalid } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import type { Container, PodLike, PodSpec, PodTemplate } from '../../builtins/core/pod/pod-types.ts'
import type { ObjectLookup } from '../../registry/object-lookup.ts'
import type { MutableObject } from '../../resource/object.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { checkedPod } from './security-check.ts'
import {
  detailText,
  isStricter,
  type LevelVersion,
  levelText,
  policyOf,
  type SecurityPolicy,
  violationsOf,
} from './security-policy.ts'

const namespaces = ['', 'v1', 'namespaces'] as const
const pods = ['', 'v1', 'pods'] as const
const auditPrefix = 'pod-security.kubernetes.io/'
/** How many pods are checked when the level of a namespace becomes stricter. */
const maxPods = 3000
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

/** The pod template of each kind that has one. */
const templates: Readonly<Record<string, (object: MutableObject) => PodTemplate | undefined>> = {
  '/podtemplates': (object) => object['template'] as PodTemplate | undefined,
  '/replicationcontrollers': inSpec,
  'apps/replicasets': inSpec,
  'apps/deployments': inSpec,
  'apps/statefulsets': inSpec,
  'apps/daemonsets': inSpec,
  'batch/jobs': inSpec,
  'batch/cronjobs': (object) =>
    (
      object['spec'] as
        | { jobTemplate?: { spec?: { template?: PodTemplate | undefined } | undefined } | undefined }
        | undefined
    )?.jobTemplate?.spec?.template,
}

/** Enforces the Pod Security Standards that the labels of a namespace select, and warns about pod templates that violate them. */
export function podSecurity(lookup: ObjectLookup): AdmissionPlugin {
  const policyFor = async (namespace: string): Promise<SecurityPolicy> =>
    policyOf((await lookup.find(namespaces, '', namespace))?.metadata.labels).policy

  const checkNamespace = async (attributes: AdmissionAttributes): Promise<void> => {
    const { object, old, operation, resource } = attributes
    const { policy, errors } = policyOf(object!.metadata.labels)
    const before = operation === 'UPDATE' ? policyOf(old?.metadata.labels) : undefined
    if (errors.length > 0 && !(before && sameErrors(errors, before.errors))) {
      throw newInvalid({ group: resource.kind.group, kind: resource.kind.kind }, attributes.name, errors)
    }
    if (!before) return
    const { enforce } = policy
    const previous = before.policy.enforce
    if (deepEqual(enforce, previous) || enforce.level === 'privileged') return
    if (enforce.minor === previous.minor && !isStricter(enforce.level, previous.level)) return
    for (const warning of await existingPods(attributes.name, enforce)) attributes.context.warn(warning)
  }

  const existingPods = async (namespace: string, enforce: LevelVersion): Promise<string[]> => {
    const all = await lookup.list(pods, namespace)
    const found = new Map<string, string[]>()
    for (const pod of all.slice(0, maxPods)) {
      const reasons = violationsOf(checkedPod(pod as PodLike), enforce).map(({ reason }) => reason)
      if (reasons.length === 0) continue
      const text = reasons.join(', ')
      const names = found.get(text)
      if (names) names.push(pod.metadata.name!)
      else found.set(text, [pod.metadata.name!])
    }
    const warnings: string[] = []
    if (all.length > maxPods) {
      warnings.push(
        `new PodSecurity enforce level only checked against the first ${maxPods} of ${all.length} existing pods`,
      )
    }
    if (found.size === 0) return warnings
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
    )
    return [...warnings, ...[...found].map(([text, names]) => `${groupText(names.sort())}: ${text}`).sort()]
  }

  return {
    name: 'PodSecurity',
    resources: ['/namespaces', '/pods', ...Object.keys(templates)],
    validate: async (attributes) => {
      const { resource, subresource, operation, object, namespace } = attributes
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object) return
      const key = `${resource.kind.group}/${resource.kind.plural}`
      if (key === '/namespaces') return subresource === '' ? checkNamespace(attributes) : undefined
      if (key === '/pods') {
        if (ignoredSubresources.has(subresource)) return
        if (operation === 'UPDATE' && !changesImages(object as PodLike, attributes.old as PodLike)) return
        return evaluate(attributes, await policyFor(namespace), object as PodLike, true)
      }
      const template = subresource === '' ? templates[key]?.(object) : undefined
      if (template) evaluate(attributes, await policyFor(namespace), template, false)
    },
  }
}

function inSpec(object: MutableObject): PodTemplate | undefined {
  return (object['spec'] as { template?: PodTemplate | undefined } | undefined)?.template
}

/** Rejects a pod that violates the enforced level. Warnings and audit annotations apply to pods and pod templates. */
function evaluate(attributes: AdmissionAttributes, policy: SecurityPolicy, pod: PodTemplate, enforce: boolean): void {
  const { enforce: enforced, audit, warn } = policy
  if ([enforced, audit, warn].every(({ level }) => level === 'privileged')) {
    if (enforce) attributes.context.audit.set(`${auditPrefix}enforce-policy`, 'privileged:latest')
    return
  }
  const checked = checkedPod(pod)
  const notes = attributes.context.audit
  const audited = detailText(violationsOf(checked, audit))
  if (audited !== '') {
    notes.set(`${auditPrefix}audit-violations`, `would violate PodSecurity "${levelText(audit)}": ${audited}`)
  }
  if (enforce) {
    notes.set(`${auditPrefix}enforce-policy`, levelText(enforced))
    const refused = detailText(violationsOf(checked, enforced))
    if (refused !== '') {
      throw admissionForbidden(attributes, `violates PodSecurity "${levelText(enforced)}": ${refused}`)
    }
  }
  const warned = detailText(violationsOf(checked, warn))
  if (warned !== '') attributes.context.warn(`would violate PodSecurity "${levelText(warn)}": ${warned}`)
}

function sameErrors(a: readonly { toString(): string }[], b: readonly { toString(): string }[]): boolean {
  return a.length === b.length && a.every((error, index) => String(error) === String(b[index]))
}

/** Of the mutable fields of a pod only images and ephemeral containers can affect its security. */
function changesImages({ spec = {} }: PodLike, { spec: old = {} }: PodLike): boolean {
  const images = (containers: readonly Container[] | undefined): string =>
    (containers ?? []).map(({ image }) => image ?? '').join('\n')
  const count = (given: PodSpec): string => `${given.containers?.length ?? 0}/${given.initContainers?.length ?? 0}`
  if (count(spec) !== count(old)) return true
  if (images(spec.containers) !== images(old.containers)) return true
  if (images(spec.initContainers) !== images(old.initContainers)) return true
  return (spec.ephemeralContainers ?? []).some(
    ({ name, image }) => old.ephemeralContainers?.find((known) => known.name === name)?.image !== image,
  )
}

function groupText(names: readonly string[]): string {
  const others = names.length - 1
  if (others === 0) return names[0]!
  return `${names[0]} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`
}
