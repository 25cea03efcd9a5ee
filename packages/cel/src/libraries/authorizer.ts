// Authorization checks in admission expressions (apiserver/pkg/cel/library/authz.go). The library only declares the
// functions. The `CelAuthorizer` in the value bound to the variable `authorizer` makes the decisions.
import { nameIsDNSLabel, nameIsDNSSubdomain } from '@kubewright/base'
import {
  addRanges,
  type CostEstimate,
  exactly,
  type FunctionCost,
  LIST_CREATE_COST,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
  STRUCT_CREATE_COST,
  scaleRange,
} from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, type CelOverload, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, STRING, structType } from '../values/cel-type.ts'
import { actualSize, CelOpaque, type CelValue } from '../values/values.ts'
import { NOMINAL_COST } from './cost-rules.ts'

/** An authorization request for a resource, or for a path outside the API. Empty strings mean not specified. */
export type CelAuthorizationRequest = {
  /** The service account to check instead of the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined
  readonly verb: string
  readonly path: string
  /** Absent for a path request. */
  readonly resource:
    | {
        readonly group: string
        readonly resource: string
        readonly subresource: string
        readonly namespace: string
        readonly name: string
        readonly fieldSelector: string
        readonly labelSelector: string
      }
    | undefined
}

/** The result of a check: whether the request is allowed, the reason, and the error if the check failed. */
export type CelAuthorizationDecision = {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string | undefined
}

/** Makes authorization decisions. Synchronous, because it is called during an evaluation. */
export interface CelAuthorizer {
  authorize(request: CelAuthorizationRequest): CelAuthorizationDecision
}

/** The type of the variable `authorizer`. */
export const AUTHORIZER_TYPE: CelType = structType('kubernetes.authorization.Authorizer')
/** The type of the variable `authorizer.requestResource` and of unfinished resource checks. */
export const RESOURCE_CHECK_TYPE: CelType = structType('kubernetes.authorization.ResourceCheck')
const PATH_CHECK_TYPE: CelType = structType('kubernetes.authorization.PathCheck')
const GROUP_CHECK_TYPE: CelType = structType('kubernetes.authorization.GroupCheck')
const DECISION_TYPE: CelType = structType('kubernetes.authorization.Decision')

type ResourceAttributes = NonNullable<CelAuthorizationRequest['resource']>

/** A value with methods only. Two such values are equal only if they are the same object. */
abstract class ReceiverOnly extends CelOpaque {
  equals(other: CelValue): boolean {
    if (!(other instanceof ReceiverOnly)) throw noSuchOverload()
    return this === other
  }
}

/** The value to bind to the variable `authorizer`. */
export class CelAuthorizerValue extends ReceiverOnly {
  readonly type: CelType = AUTHORIZER_TYPE
  readonly authorizer: CelAuthorizer
  readonly serviceAccount: CelAuthorizationRequest['serviceAccount']

  constructor(authorizer: CelAuthorizer, serviceAccount?: CelAuthorizationRequest['serviceAccount']) {
    super()
    this.authorizer = authorizer
    this.serviceAccount = serviceAccount
  }
}

class PathCheck extends ReceiverOnly {
  readonly type: CelType = PATH_CHECK_TYPE
  readonly authorizer: CelAuthorizerValue
  readonly path: string

  constructor(authorizer: CelAuthorizerValue, path: string) {
    super()
    this.authorizer = authorizer
    this.path = path
  }
}

class GroupCheck extends ReceiverOnly {
  readonly type: CelType = GROUP_CHECK_TYPE
  readonly authorizer: CelAuthorizerValue
  readonly group: string

  constructor(authorizer: CelAuthorizerValue, group: string) {
    super()
    this.authorizer = authorizer
    this.group = group
  }
}

/** An unfinished resource check. Bind one to the variable `authorizer.requestResource`. */
export class CelResourceCheck extends ReceiverOnly {
  readonly type: CelType = RESOURCE_CHECK_TYPE
  readonly authorizer: CelAuthorizerValue
  readonly attributes: ResourceAttributes

  constructor(
    authorizer: CelAuthorizerValue,
    attributes: Partial<ResourceAttributes> & Pick<ResourceAttributes, 'group' | 'resource'>,
  ) {
    super()
    this.authorizer = authorizer
    const empty = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' }
    this.attributes = { ...empty, ...attributes }
  }

  with(change: Partial<ResourceAttributes>): CelResourceCheck {
    return new CelResourceCheck(this.authorizer, { ...this.attributes, ...change })
  }
}

class Decision extends ReceiverOnly {
  readonly type: CelType = DECISION_TYPE
  readonly decision: CelAuthorizationDecision

  constructor(decision: CelAuthorizationDecision) {
    super()
    this.decision = decision
  }
}

/** The cost of an authorization check. The cost limit allows at most two checks per expression. */
const CHECK_COST: FunctionCost = { estimate: () => ({ cost: exactly(350000) }), track: () => 350000 }

/** A selector is parsed into a list of requirements of at least two characters each. */
const SELECTOR_COST: FunctionCost = {
  estimate: (call) => call.args[0] && { cost: selectorCost(call.sizeOf(call.args[0])) },
  track: (_, [, selector]) => (selector === undefined ? undefined : selectorCost(exactly(actualSize(selector))).max),
}

function selectorCost(size: SizeEstimate): CostEstimate {
  const requirements = scaleRange(scaleRange(size, 0.5), LIST_CREATE_COST + STRUCT_CREATE_COST)
  return addRanges(addRanges(exactly(LIST_CREATE_COST), scaleRange(size, STRING_TRAVERSAL_COST)), requirements)
}

const UNIT_EQUALITY = { identifier: false, equalityCost: () => exactly(1) } as const

/** The authorization functions, for environments that declare a variable of type `AUTHORIZER_TYPE`. */
export const authorizerLibrary: CelLibrary = defineLibrary('kubernetes.authz', () => ({
  types: [AUTHORIZER_TYPE, PATH_CHECK_TYPE, GROUP_CHECK_TYPE, RESOURCE_CHECK_TYPE, DECISION_TYPE].map((type) => ({
    type,
    ...UNIT_EQUALITY,
  })),
  functions: [
    method('path', 'authorizer_path', AUTHORIZER_TYPE, PATH_CHECK_TYPE, (authorizer: CelAuthorizerValue, path) => {
      if (path.trim() === '') throw new CelError('path must not be empty')
      return new PathCheck(authorizer, path)
    }),
    method('group', 'authorizer_group', AUTHORIZER_TYPE, GROUP_CHECK_TYPE, (authorizer: CelAuthorizerValue, group) => {
      return new GroupCheck(authorizer, group)
    }),
    {
      name: 'serviceAccount',
      cost: NOMINAL_COST,
      overloads: [
        {
          id: 'authorizer_serviceaccount',
          member: true,
          args: [AUTHORIZER_TYPE, STRING, STRING],
          result: AUTHORIZER_TYPE,
          evaluate: serviceAccount,
        },
      ],
    },
    method('resource', 'groupcheck_resource', GROUP_CHECK_TYPE, RESOURCE_CHECK_TYPE, (check: GroupCheck, resource) => {
      if (resource.trim() === '') throw new CelError('resource must not be empty')
      return new CelResourceCheck(check.authorizer, { group: check.group, resource })
    }),
    refinement('subresource', 'resourcecheck_subresource', (subresource) => ({ subresource })),
    refinement('namespace', 'resourcecheck_namespace', (namespace) => ({ namespace })),
    refinement('name', 'resourcecheck_name', (name) => ({ name })),
    refinement('fieldSelector', 'authorizer_fieldselector', (fieldSelector) => ({ fieldSelector }), SELECTOR_COST),
    refinement('labelSelector', 'authorizer_labelselector', (labelSelector) => ({ labelSelector }), SELECTOR_COST),
    {
      name: 'check',
      cost: CHECK_COST,
      overloads: [
        checkOverload('pathcheck_check', PATH_CHECK_TYPE),
        checkOverload('resourcecheck_check', RESOURCE_CHECK_TYPE),
      ],
    },
    decisionAccessor('errored', 'decision_errored', BOOL, (decision) => decision.error !== undefined),
    decisionAccessor('error', 'decision_error', STRING, (decision) => decision.error ?? ''),
    decisionAccessor('allowed', 'decision_allowed', BOOL, (decision) => decision.allowed),
    decisionAccessor('reason', 'decision_reason', STRING, (decision) => decision.reason),
  ],
}))

function method<T extends CelOpaque>(
  name: string,
  id: string,
  receiver: CelType,
  result: CelType,
  evaluate: (receiver: T, argument: string) => CelValue,
): CelFunction {
  const overload: CelOverload = { id, member: true, args: [receiver, STRING], result, evaluate }
  return { name, cost: NOMINAL_COST, overloads: [overload] }
}

/** Declares a method that sets one attribute of a resource check. */
function refinement(
  name: string,
  id: string,
  change: (argument: string) => Partial<ResourceAttributes>,
  cost: FunctionCost = NOMINAL_COST,
): CelFunction {
  const evaluate = (check: CelResourceCheck, argument: string): CelValue => check.with(change(argument))
  const args = [RESOURCE_CHECK_TYPE, STRING]
  return { name, cost, overloads: [{ id, member: true, args, result: RESOURCE_CHECK_TYPE, evaluate }] }
}

function decisionAccessor(
  name: string,
  id: string,
  result: CelType,
  read: (decision: CelAuthorizationDecision) => CelValue,
): CelFunction {
  const evaluate = (value: Decision): CelValue => read(value.decision)
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args: [DECISION_TYPE], result, evaluate }] }
}

function checkOverload(id: string, receiver: CelType): CelOverload {
  const evaluate = (check: PathCheck | CelResourceCheck, verb: string): CelValue => {
    const { authorizer, serviceAccount: account } = check.authorizer
    const isPath = check instanceof PathCheck
    return new Decision(
      authorizer.authorize({
        serviceAccount: account,
        verb,
        path: isPath ? check.path : '',
        resource: isPath ? undefined : check.attributes,
      }),
    )
  }
  return { id, member: true, args: [receiver, STRING], result: DECISION_TYPE, evaluate }
}

function serviceAccount(authorizer: CelAuthorizerValue, namespace: string, name: string): CelValue {
  if (nameIsDNSSubdomain(name, false).length > 0) throw new CelError('Invalid service account name')
  if (nameIsDNSLabel(namespace, false).length > 0) throw new CelError('Invalid service account namespace')
  return new CelAuthorizerValue(authorizer.authorizer, { namespace, name })
}
