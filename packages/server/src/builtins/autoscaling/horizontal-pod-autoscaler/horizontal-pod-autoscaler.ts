import type { AnyKind } from '@kubewright/api'
import { nameIsDNSSubdomain } from '@kubewright/base'
import type { FieldError } from '@kubewright/schema'
import type { ServedRelease } from '../../../codec/served-release.ts'
import { type Conversion, type FieldConversion, storageConversion } from '../../../resource/conversion.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { type StrategyWithStatus, withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { part, specPath, statusPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { storedTyped } from '../../typed/decode-typed.ts'
import { cpuMetric, defaultCpuUtilization, dropConversionAnnotations, hpaToV1, hpaToV2 } from './hpa-conversion.ts'
import { hpaTable } from './hpa-table.ts'
import type { HpaSpec, HpaStatus, ScalingRules } from './hpa-types.ts'
import { apiVersionProblem, type HpaOptions, validateHpaSpec } from './validate-hpa.ts'

const main: Strategy = {
  validateName: nameIsDNSSubdomain,
  metadataOnUpdate: ['update'],
  setDefaults: setDefaultsV2,
  validate: (object) => {
    const spec = part<HpaSpec>(object, 'spec')
    return validateHpaSpec(spec, specPath, optionsFor(spec))
  },
  validateUpdate: (object, old) => {
    const [spec, before] = [part<HpaSpec>(object, 'spec'), part<HpaSpec>(old, 'spec')]
    return validateHpaSpec(spec, specPath, optionsFor(spec, before))
  },
}

const stored: StrategyWithStatus = withStatus(main, { validateUpdate: validateStatusUpdate })

/** Converts between both versions for the field manager. */
const fieldsOf = ({ facts }: ServedRelease): FieldConversion => ({
  schemaFor: (apiVersion) => {
    const [group = '', version = ''] = apiVersion.split('/')
    if (group !== 'autoscaling') return undefined
    return facts.kindFor({ group, version, kind: 'HorizontalPodAutoscaler' })?.schema
  },
  convert: (object, apiVersion) => {
    if (object['apiVersion'] === apiVersion) return object
    const typed = object as MutableObject
    if (apiVersion === 'autoscaling/v2') return hpaToV2(typed)
    return apiVersion === 'autoscaling/v1' ? hpaToV1(typed) : undefined
  },
})

/** HorizontalPodAutoscalers in v2, the storage version (pkg/registry/autoscaling). */
export const horizontalPodAutoscalers: BuiltinDefinition = defineBuiltin({
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  table: hpaTable,
  ...stored,
  withRelease: (release) => ({ conversion: { fields: fieldsOf(release) } }),
})

/** HorizontalPodAutoscalers in v1. All rules apply to the object in v2. */
export const horizontalPodAutoscalersV1: BuiltinDefinition = defineBuiltin({
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  version: 'v1',
  table: hpaTable,
  strategy: throughV2(stored.strategy),
  subresources: {
    status: { ...stored.subresources.status, strategy: throughV2(stored.subresources.status.strategy!) },
  },
  withRelease: (release) => ({ conversion: conversionOfV1(release) }),
})

function conversionOfV1(release: ServedRelease): Conversion {
  const kindOf = (version: string): AnyKind =>
    release.facts.kindFor({ group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' })!
  return {
    storage: storageConversion({
      toStorage: (object) => {
        const result = hpaToV2(object)
        setDefaultsV2(result)
        return storedTyped(release, kindOf('v2'), result)
      },
      fromStorage: (object) => storedTyped(release, kindOf('v1'), hpaToV1(object)),
    }),
    fields: fieldsOf(release),
    toInternal: hpaToV2,
  }
}

/** Applies a strategy for v2 to objects in v1. */
function throughV2(strategy: Strategy): Strategy {
  return {
    ...strategy,
    setDefaults: (object) => {
      const spec = (object['spec'] ??= {}) as HpaSpec
      spec.minReplicas ??= 1
      // The conversion to v2 and back fills the defaults of v2.
      replace(object, hpaToV1(hpaToV2(object)))
    },
    prepareForCreate: (object, context) => {
      const inner = hpaToV2(object)
      strategy.prepareForCreate?.(inner, context)
      replace(object, hpaToV1(inner))
    },
    prepareForUpdate: (object, old, context) => {
      const inner = hpaToV2(object)
      strategy.prepareForUpdate?.(inner, hpaToV2(old), context)
      replace(object, hpaToV1(inner))
    },
    validate: (object, context) => strategy.validate?.(hpaToV2(object), context) ?? [],
    validateUpdate: (object, old, context) => strategy.validateUpdate?.(hpaToV2(object), hpaToV2(old), context) ?? [],
  }
}

function replace(object: MutableObject, by: MutableObject): void {
  for (const field of Object.keys(object)) if (!Object.hasOwn(by, field)) delete object[field]
  Object.assign(object, by)
}

function setDefaultsV2(object: MutableObject): void {
  const spec = (object['spec'] ??= {}) as HpaSpec
  spec.minReplicas ??= 1
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(defaultCpuUtilization)]
  if (spec.behavior) {
    const policy = (type: string, value: number): NonNullable<ScalingRules['policies']>[number] => ({
      type,
      value,
      periodSeconds: 15,
    })
    spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [policy('Pods', 4), policy('Percent', 100)],
    })
    spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, {
      selectPolicy: 'Max',
      policies: [policy('Percent', 100)],
    })
  }
  dropConversionAnnotations(object)
}

function withDefaults(rules: ScalingRules | undefined, defaults: ScalingRules): ScalingRules {
  const given = Object.entries(rules ?? {}).filter(([, value]) => value !== undefined && value !== null)
  return { ...defaults, ...Object.fromEntries(given) }
}

/** The rules for an update: values of the stored object that are invalid by today's rules may stay. */
function optionsFor(spec: HpaSpec, old?: HpaSpec): HpaOptions {
  const { kind, apiVersion } = spec.scaleTargetRef ?? {}
  const same = old?.scaleTargetRef?.apiVersion === apiVersion && old?.scaleTargetRef?.kind === kind
  const objectMetrics = { allowEmptyGroup: true, allowInvalidVersion: false }
  return {
    minReplicasLowerBound: old?.minReplicas === 0 ? 0 : 1,
    scaleTarget: {
      allowEmptyGroup: kind === 'ReplicationController',
      allowInvalidVersion: old !== undefined && same,
    },
    objectMetrics: {
      ...objectMetrics,
      allowInvalidVersion: (old?.metrics ?? []).some(
        ({ object }) => object && apiVersionProblem(object.describedObject ?? {}, objectMetrics) !== undefined,
      ),
    },
  }
}

function validateStatusUpdate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<HpaStatus>(object, 'status')
  for (const field of ['currentReplicas', 'desiredReplicas'] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  return errors
}
