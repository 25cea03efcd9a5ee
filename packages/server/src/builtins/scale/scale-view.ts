import type { AnyKind } from '@kubewright/api'
import {
  type ManagedFieldsEntry,
  newInvalid,
  parentManagedFields,
  type ReplicasPaths,
  scaleManagedFields,
  selectorFrom,
} from '@kubewright/api'
import { append, nameIsDNSSubdomain, omitUndefined } from '@kubewright/base'
import { FieldPath, invalid, validateObjectMeta } from '@kubewright/schema'
import type { ServedRelease } from '../../codec/served-release.ts'
import type { ManagedFields, MutableObject } from '../../resource/object.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { Subresource, SubresourceView } from '../../resource/subresource.ts'
import { validateFinalizerNames } from '../../resource/validate-object-meta.ts'
import { typedCodec } from '../typed/typed-codec.ts'
import { scaleTable } from './scale-table.ts'

/** The differences between the scale subresources of built-in kinds. */
export interface ScaleOptions {
  readonly release: ServedRelease
  /** apiVersion of the kind, and of its managed fields entries. */
  readonly apiVersion: string
  /** Formats the selector. @default the label selector in spec.selector */
  readonly selector?: ((object: MutableObject) => string) | undefined
  /** The strategy of writes through the subresource. */
  readonly strategy: Strategy
}

/** The kind of the body of scale subresources. */
export function scaleKind({ facts }: ServedRelease): AnyKind {
  return facts.kindFor({ group: 'autoscaling', version: 'v1', kind: 'Scale' })!
}

/** The scale subresource of a kind with spec.replicas and status.replicas. */
export function scaleSubresource(options: ScaleOptions): Subresource {
  const kind = scaleKind(options.release)
  return {
    verbs: ['get', 'patch', 'update'],
    strategy: options.strategy,
    kind,
    codec: typedCodec(options.release, kind),
    view: scaleView(builtinAccess(options)),
    table: scaleTable,
  }
}

/** Where the numbers of a Scale are in an object. */
export interface ScaleAccess {
  /** apiVersion of the object, and of its managed fields entries. */
  readonly apiVersion: string
  /** The path of the replicas in the managed fields of each version. */
  readonly paths: ReplicasPaths
  readonly replicas: (object: MutableObject) => number
  readonly statusReplicas: (object: MutableObject) => number
  /** The selector as text; empty or undefined for none. */
  readonly selector: (object: MutableObject) => string | undefined
  /** Throws when the Scale is invalid. */
  readonly validate?: ((scale: MutableObject) => void) | undefined
  /** Throws when the number is invalid. */
  readonly setReplicas: (object: MutableObject, replicas: number) => void
}

/** Converts between an object and its Scale. */
export function scaleView(access: ScaleAccess): SubresourceView {
  const { apiVersion, paths } = access
  return {
    show: (object) => {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
      const replicas = access.replicas(object)
      const selector = access.selector(object)
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: omitUndefined({ name, namespace, uid, resourceVersion, creationTimestamp }),
        spec: replicas === 0 ? {} : { replicas },
        status: { replicas: access.statusReplicas(object), ...(selector ? { selector } : {}) },
      }
    },
    managedFields: (object) =>
      scaleManagedFields(object.metadata.managedFields as ManagedFieldsEntry[] | undefined, paths) as
        | ManagedFields
        | undefined,
    put: (object, view) => {
      access.validate?.(view)
      access.setReplicas(object, numberAt(view['spec'], 'replicas'))
      const entries = parentManagedFields(
        object.metadata.managedFields as ManagedFieldsEntry[] | undefined,
        view.metadata.managedFields as ManagedFieldsEntry[] | undefined,
        apiVersion,
        paths,
      )
      if (entries) object.metadata.managedFields = entries as unknown as ManagedFields
      else delete object.metadata.managedFields
    },
  }
}

function builtinAccess({ apiVersion, selector = labelSelectorText }: ScaleOptions): ScaleAccess {
  return {
    apiVersion,
    paths: { [apiVersion]: ['f:spec', 'f:replicas'] },
    replicas: (object) => numberAt(object['spec'], 'replicas'),
    statusReplicas: (object) => numberAt(object['status'], 'replicas'),
    selector,
    validate: validateScale,
    setReplicas: (object, replicas) => {
      object['spec'] = { ...(object['spec'] as object | undefined), replicas }
    },
  }
}

/** Checks a Scale (pkg/apis/autoscaling/validation, ValidateScale). */
function validateScale({ metadata, spec }: MutableObject): void {
  const path = FieldPath.of('metadata')
  const errors = validateObjectMeta(metadata, path, { namespaced: true, nameCheck: nameIsDNSSubdomain })
  append(errors, validateFinalizerNames(metadata.finalizers ?? [], path.child('finalizers')))
  const replicas = numberAt(spec, 'replicas')
  if (replicas < 0) {
    errors.push(invalid(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
  }
  if (errors.length > 0) throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, metadata.name ?? '', errors)
}

function labelSelectorText(object: MutableObject): string {
  const { selector } = (object['spec'] ?? {}) as { selector?: Parameters<typeof selectorFrom>[0] | undefined }
  return selectorFrom(selector).toString()
}

/** Formats the selector of a ReplicationController, which is a map of labels. */
export function labelsText(object: MutableObject): string {
  const { selector = {} } = (object['spec'] ?? {}) as { selector?: Record<string, string> | undefined }
  return Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
}

function numberAt(part: unknown, field: string): number {
  const value = (part as Record<string, unknown> | undefined)?.[field]
  return typeof value === 'number' ? value : 0
}
