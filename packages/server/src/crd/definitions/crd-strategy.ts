import { goQuote } from '@kubewright/base'
import { unrecognizedFormats } from '@kubewright/schema'
import { type BuiltinDefinition, defineBuiltin } from '../../builtins/define-builtin.ts'
import type { MutableObject } from '../../resource/object.ts'
import { mainStrategy, statusStrategy } from '../../resource/status-strategy.ts'
import type { Strategy } from '../../resource/strategy.ts'
import { asCrd, type Crd, cleanupFinalizer, crdGroup, storageVersionOf } from './crd.ts'
import { setCrdCondition } from './crd-conditions.ts'
import { internalSpec, noteEmptyVersions, schemaOf } from './internal-spec.ts'
import { validateCrd, validateCrdStatusUpdate, validateCrdUpdate } from './validate-crd.ts'

const strategy: Strategy = {
  anyFinalizer: true,
  metadataOnUpdate: ['update'],
  allowUnconditionalUpdate: false,
  generation: true,
  setDefaults: (object) => setDefaults(asCrd(object)),
  prepareForCreate: (object) => {
    noteEmptyVersions(asCrd(object))
    noteStorageVersion(asCrd(object))
  },
  prepareForUpdate: (object) => {
    noteEmptyVersions(asCrd(object))
    noteStorageVersion(asCrd(object))
  },
  validate: (object) => validateCrd(asCrd(object)),
  validateUpdate: (object, old) => validateCrdUpdate(asCrd(object), asCrd(old)),
  warningsOnCreate: (object) => formatWarnings(object),
  warningsOnUpdate: (object, old) => {
    const before = new Set(formatWarnings(old))
    return formatWarnings(object).filter((text) => !before.has(text))
  },
  beginDelete: (object, now) => beginDelete(asCrd(object), now),
}

/** CustomResourceDefinitions (apiextensions-apiserver/pkg/registry/customresourcedefinition). */
export const customResourceDefinitions: BuiltinDefinition = defineBuiltin({
  group: crdGroup,
  resource: 'customresourcedefinitions',
  storagePath: `${crdGroup}/customresourcedefinitions/`,
  strategy: mainStrategy(strategy),
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      hasTable: false,
      strategy: statusStrategy(strategy, {
        // As in kube-apiserver: an update of the status may change metadata, and controllers rely on it.
        keeps: ['spec'],
        resets: ['metadata', 'spec'],
        validateUpdate: (object) => validateCrdStatusUpdate(asCrd(object)),
      }),
    },
  },
})

function setDefaults(crd: Crd): void {
  const spec = (crd.spec ??= {})
  const names = (spec.names ??= {})
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
  const { webhook } = spec.conversion
  // The internal version has no struct for the webhook: an empty one is lost in conversion.
  if (webhook && !webhook.clientConfig && !webhook.conversionReviewVersions) delete spec.conversion.webhook
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service) service.port ??= 443
  const status = (crd.status ??= {})
  const stored = storageVersionOf(spec)
  if (!status.storedVersions?.length && stored) status.storedVersions = [stored.name ?? '']
}

/** Adds the storage version to status.storedVersions, the versions in which objects may be stored. */
function noteStorageVersion(crd: Crd): void {
  const stored = storageVersionOf(crd.spec)
  if (!stored) return
  const status = (crd.status ??= {})
  const name = stored.name ?? ''
  if (!status.storedVersions?.includes(name)) status.storedVersions = [...(status.storedVersions ?? []), name]
}

function formatWarnings(object: MutableObject): string[] {
  const { shared, versions } = internalSpec(asCrd(object).spec)
  const schemas = [shared, ...versions].flatMap((part) => schemaOf(part) ?? [])
  return schemas.flatMap(unrecognizedFormats).map((format) => `unrecognized format ${goQuote(format)}`)
}

/** Marks a CRD for deletion. The finalizer keeps it until its custom resources are deleted. */
function beginDelete(crd: Crd, now: number): 'mark-only' | 'continue' {
  if (crd.metadata.deletionTimestamp !== undefined) return 'continue'
  const finalizers = crd.metadata.finalizers ?? []
  if (!finalizers.includes(cleanupFinalizer)) crd.metadata.finalizers = [...finalizers, cleanupFinalizer]
  setCrdCondition(
    crd,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  )
  return 'mark-only'
}
