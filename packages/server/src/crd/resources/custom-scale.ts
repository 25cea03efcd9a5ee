import { fieldSetPath, isBadRequest, newBadRequest, newInternalError, type ReplicasPaths } from '@kubewright/api'
import { scaleKind, scaleView } from '../../builtins/scale/scale-view.ts'
import { typedCodec } from '../../builtins/typed/typed-codec.ts'
import type { ServedRelease } from '../../codec/served-release.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { Subresource, SubresourceView } from '../../resource/subresource.ts'
import { customScaleTable } from '../../table/custom-table.ts'
import type { CrdScale } from '../definitions/crd.ts'
import type { CustomVersion, CustomVersions } from './custom-versions.ts'
import { nestedValue, stepsOf } from './validate-scale.ts'

/** The value of replicas that are not set. A write must set them. */
const unset = -2147483648

// kube-apiserver tracks fields of scales of custom resources with a conversion that does not know the kind Scale.
const conversionProblem = 'request to convert CR to an invalid group/version: autoscaling/v1'
const applyProblems = {
  unowned: `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: ${conversionProblem}`,
  changing: conversionProblem,
}
// It also reports every decoding error of such a scale as an unknown kind.
const decodeProblem =
  'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"'

/** The scale subresource of a custom resource, which reads and writes the fields that the CRD names. */
export function customScale(
  versions: CustomVersions,
  own: CustomVersion,
  scale: CrdScale,
  strategy: Strategy,
  release: ServedRelease,
): Subresource {
  const kind = scaleKind(release)
  const codec = typedCodec(release, kind)
  return {
    verbs: ['get', 'patch', 'update'],
    // A scale without a resource version is written to the newest object.
    strategy: { ...strategy, allowUnconditionalUpdate: true },
    kind,
    codec: { ...codec, decode: (body, request) => decodeScale(() => codec.decode(body, request)) },
    view: customScaleView(replicasPaths(versions), own.apiVersion, scale),
    table: customScaleTable(scale),
    applyProblems,
  }
}

function decodeScale(decode: () => MutableObject): MutableObject {
  try {
    return decode()
  } catch (error) {
    if (!isBadRequest(error) || (error as Error).message.startsWith('the API version in the data')) throw error
    throw newBadRequest(decodeProblem)
  }
}

function replicasPaths({ all }: CustomVersions): ReplicasPaths {
  return Object.fromEntries(
    [...all].map(([apiVersion, { version }]) => {
      const path = version.subresources?.scale?.specReplicasPath
      return [apiVersion, path ? fieldSetPath(...(stepsOf(path) as [string, ...string[]])) : null]
    }),
  )
}

function customScaleView(paths: ReplicasPaths, apiVersion: string, scale: CrdScale): SubresourceView {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale
  const numberAt = (object: MutableObject, path: string): number | undefined => {
    const value = orRefuse(() => nestedValue(object, path, 'int64'))
    return value === undefined ? undefined : Number(value)
  }
  const view = scaleView({
    apiVersion,
    paths,
    replicas: (object) => numberAt(object, specReplicasPath) ?? 0,
    statusReplicas: (object) => numberAt(object, statusReplicasPath) ?? 0,
    selector: (object) =>
      labelSelectorPath === ''
        ? undefined
        : orRefuse(() => nestedValue(object, labelSelectorPath, 'string') as string | undefined),
    setReplicas: (object, replicas) => {
      if (replicas === unset) {
        throw newBadRequest(`the spec replicas field ${JSON.stringify(specReplicasPath)} cannot be empty`)
      }
      setNested(object, stepsOf(specReplicasPath), replicas)
    },
  })
  return {
    ...view,
    showForWrite: (object) => {
      const shown = view.show(object)
      if (numberAt(object, specReplicasPath) === undefined) shown['spec'] = { replicas: unset }
      return shown
    },
    check: (object) => {
      if (numberAt(object, specReplicasPath) !== undefined) return
      throw newInternalError(new Error(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`))
    },
  }
}

function orRefuse<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unclassifiedError((error as Error).message)
  }
}

function setNested(object: MutableObject, steps: readonly string[], value: number): void {
  let target: Record<string, unknown> = object
  for (const step of steps.slice(0, -1)) target = (target[step] ??= {}) as Record<string, unknown>
  target[steps.at(-1)!] = value
}
