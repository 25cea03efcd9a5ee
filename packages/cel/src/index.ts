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
} from './ast.ts'
export { CelCompileError, CelCostError, CelError, type CelIssue } from './cel-error.ts'
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
} from './cel-type.ts'
export { ArrayList, CelList, CelMap, ValueMap } from './collections.ts'
export type {
  CallCostContext,
  CallEstimate,
  CostEstimate,
  CostNode,
  FunctionCost,
  SizeEstimate,
} from './cost-estimate.ts'
export { celCompare, celEquals, compareStrings } from './equality.ts'
export type { CelFunction, CelLibrary, CelOverload, CelTypeDeclaration } from './library.ts'
export type { CelMacro, MacroFactory } from './macro.ts'
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
  codePointLength,
  intOf,
  typeOf,
} from './values.ts'
