import { Quantity } from '@kubewright/base'

/** One limit of a LimitRange. */
export interface LimitRangeItem {
  readonly type: string
  readonly min?: Readonly<Record<string, string>> | undefined
  readonly max?: Readonly<Record<string, string>> | undefined
  readonly default?: Readonly<Record<string, string>> | undefined
  readonly defaultRequest?: Readonly<Record<string, string>> | undefined
  readonly maxLimitRequestRatio?: Readonly<Record<string, string>> | undefined
}

/** Requests and limits of an object. */
export class Amounts {
  readonly requests: ReadonlyMap<string, Quantity>
  readonly limits: ReadonlyMap<string, Quantity>

  constructor(requests: ReadonlyMap<string, Quantity>, limits: ReadonlyMap<string, Quantity>) {
    this.requests = requests
    this.limits = limits
  }
}

/** The violations of a limit. */
export function limitProblems(item: LimitRangeItem, amounts: Amounts): string[] {
  return [
    ...each(item.min, (name, enforced) => minProblem(item.type, name, enforced, amounts)),
    ...each(item.max, (name, enforced) => maxProblem(item.type, name, enforced, amounts)),
    ...each(item.maxLimitRequestRatio, (name, enforced) => ratioProblem(item.type, name, enforced, amounts)),
  ]
}

/** The violations of a limit on requests only, as for claims. */
export function requestProblems(item: LimitRangeItem, amounts: Amounts): string[] {
  return [
    ...each(item.min, (name, enforced) => minProblem(item.type, name, enforced, amounts)),
    ...each(item.max, (name, enforced) => {
      const request = amounts.requests.get(name)
      const rule = `maximum ${name} usage per ${item.type} is ${enforced}`
      if (!request) return `${rule}.  No request is specified`
      return request.cmp(enforced) > 0 ? `${rule}, but request is ${request}` : undefined
    }),
  ]
}

function each(
  list: Readonly<Record<string, string>> | undefined,
  check: (name: string, enforced: Quantity) => string | undefined,
): string[] {
  const problems: string[] = []
  for (const name of Object.keys(list ?? {}).sort()) {
    const problem = check(name, Quantity.parse(list![name]!))
    if (problem !== undefined) problems.push(problem)
  }
  return problems
}

function minProblem(type: string, name: string, enforced: Quantity, { requests, limits }: Amounts): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `minimum ${name} usage per ${type} is ${enforced}`
  if (!request) return `${rule}.  No request is specified`
  if (request.cmp(enforced) < 0) return `${rule}, but request is ${request}`
  if (limit && limit.cmp(enforced) < 0) return `${rule}, but limit is ${limit}`
  return undefined
}

function maxProblem(type: string, name: string, enforced: Quantity, { requests, limits }: Amounts): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (!limit) return `${rule}.  No limit is specified`
  if (limit.cmp(enforced) > 0) return `${rule}, but limit is ${limit}`
  if (request && request.cmp(enforced) > 0) return `${rule}, but request is ${request}`
  return undefined
}

function ratioProblem(
  type: string,
  name: string,
  enforced: Quantity,
  { requests, limits }: Amounts,
): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `${name} max limit to request ratio per ${type} is ${enforced}, but`
  if (!request || request.isZero()) return `${rule} no request is specified or request is 0`
  if (!limit || limit.isZero()) return `${rule} no limit is specified or limit is 0`
  const ratio = limit.asApproximateFloat64() / request.asApproximateFloat64()
  return ratio > enforced.asApproximateFloat64() ? `${rule} provided ratio is ${ratio.toFixed(6)}` : undefined
}
