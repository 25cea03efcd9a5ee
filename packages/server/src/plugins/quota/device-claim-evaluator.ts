import { Quantity } from '@kubewright/base'
import type { MutableObject } from '../../resource/object.ts'
import type { QuotaEvaluator, Usage } from './quota-evaluator.ts'

const countName = 'count/resourceclaims.resource.k8s.io'
const classSuffix = '.deviceclass.resource.k8s.io/devices'
/** A request for all devices counts as the largest allocation that a claim can have. */
const mostDevices = 32

interface DeviceRequest {
  readonly deviceClassName?: string | undefined
  readonly allocationMode?: string | undefined
  readonly count?: number | undefined
}

interface Requests {
  readonly devices?:
    | {
        readonly requests?:
          | readonly {
              readonly exactly?: DeviceRequest | undefined
              readonly firstAvailable?: readonly DeviceRequest[] | undefined
            }[]
          | undefined
      }
    | undefined
}

/**
 * Counts ResourceClaims and, for each device class, the devices that they may be allocated. Of alternatives, the largest counts
 * (pkg/quota/v1/evaluator/core/resource_claims.go). Devices of extended resources are not counted: their feature gate is off by default.
 */
export const deviceClaimEvaluator: QuotaEvaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  covers: (name) => name === countName || name.endsWith(classSuffix),
  matchesScope: () => false,
  usage: (claim) => {
    const devices = new Map<string, number>()
    for (const { exactly, firstAvailable = [] } of requestsOf(claim)) {
      const most = new Map<string, number>()
      const alternatives = firstAvailable.length > 0 ? firstAvailable : exactly === undefined ? [] : [exactly]
      for (const request of alternatives) {
        const { deviceClassName = '' } = request
        most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, devicesOf(request)))
      }
      for (const [name, count] of most) devices.set(name, (devices.get(name) ?? 0) + count)
    }
    const usage: Usage = new Map([[countName, Quantity.of(1)]])
    for (const [name, count] of devices) usage.set(`${name}${classSuffix}`, Quantity.of(count))
    return usage
  },
}

function requestsOf(claim: MutableObject): NonNullable<NonNullable<Requests['devices']>['requests']> {
  return ((claim['spec'] ?? {}) as Requests).devices?.requests ?? []
}

function devicesOf({ allocationMode, count = 0 }: DeviceRequest): number {
  if (allocationMode === 'All') return mostDevices
  return allocationMode === 'ExactCount' ? count : 0
}
