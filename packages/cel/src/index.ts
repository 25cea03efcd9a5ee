export type { SizeEstimator } from './cost/declared-sizes.ts'
export type {
  CallCostContext,
  CallEstimate,
  CostEstimate,
  CostNode,
  FunctionCost,
  SizeEstimate,
} from './define/cost-estimate.ts'
export type { VariableDeclaration } from './define/declarations.ts'
export type { CelFunction, CelLibrary, CelOverload, CelTypeDeclaration } from './define/library.ts'
export { CelEnvironment, type EnvironmentOptions } from './environment.ts'
export { celErrorCodes } from './error-codes.ts'
export { CelExpression, CostMeter, PER_CALL_LIMIT } from './expression.ts'
export {
  AUTHORIZER_TYPE,
  authorizerLibrary,
  type CelAuthorizationDecision,
  type CelAuthorizationRequest,
  type CelAuthorizer,
  CelAuthorizerValue,
  CelResourceCheck,
  RESOURCE_CHECK_TYPE,
} from './libraries/authorizer.ts'
export { bindingsLibrary } from './libraries/bindings.ts'
export { CelCIDR, CIDR_TYPE, cidrLibrary } from './libraries/cidr.ts'
export { extListsLibrary } from './libraries/ext-lists.ts'
export { CelFormat, FORMAT_TYPE, formatLibrary } from './libraries/format.ts'
export { CelIP, IP_TYPE, ipLibrary } from './libraries/ip.ts'
export { CelJSONPatch, JSON_PATCH_TYPE, jsonPatchLibrary } from './libraries/json-patch.ts'
export { kubernetesLibraries } from './libraries/kubernetes-libraries.ts'
export { listsLibrary } from './libraries/lists.ts'
export { CelObject, OBJECT_TYPE, objectTypesLibrary } from './libraries/object-types.ts'
export { CelQuantity, QUANTITY_TYPE, quantityLibrary } from './libraries/quantity.ts'
export { regexLibrary } from './libraries/regex.ts'
export { CelSemver, SEMVER_TYPE, semverLibrary } from './libraries/semver.ts'
export { setsLibrary } from './libraries/sets.ts'
export { stringsLibrary } from './libraries/strings.ts'
export { CelURL, URL_TYPE, urlsLibrary } from './libraries/urls.ts'
export { type CelSchema, withTypeAndObjectMeta } from './schema/cel-schema.ts'
export {
  type DeclaredField,
  type DeclaredType,
  type DeclareOptions,
  declareSchema,
  MAX_REQUEST_SIZE_BYTES,
} from './schema/declared-type.ts'
export { escapeIdentifier, unescapeIdentifier } from './schema/escape.ts'
export { mapFold } from './standard/macros.ts'
export type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  LiteralExpr,
  MapEntry,
  MapExpr,
  SelectExpr,
  StructExpr,
  StructField,
} from './syntax/ast.ts'
export type { CelMacro, MacroFactory } from './syntax/macro.ts'
export { CelCompileError, CelCostError, CelError, type CelIssue, CelPlanError } from './values/cel-error.ts'
export {
  ANY,
  BOOL,
  BYTES,
  type CelKind,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listType,
  mapType,
  NULL,
  opaqueType,
  optionalType,
  STRING,
  sameType,
  structType,
  TIMESTAMP,
  TYPE,
  typeOfType,
  typeParam,
  UINT,
} from './values/cel-type.ts'
export { ArrayList, CelList, CelMap, ValueMap } from './values/collections.ts'
export { celCompare, celEquals } from './values/equality.ts'
export { fromNative } from './values/json-values.ts'
export { toNative } from './values/native.ts'
export { matchesRegex, regexOf } from './values/regex.ts'
export { durationText, timestampText } from './values/time-text.ts'
export {
  actualSize,
  CelBytes,
  CelDouble,
  CelDuration,
  type CelInt,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
  intOf,
  typeOf,
} from './values/values.ts'
