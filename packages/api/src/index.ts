export type { AnyKind, Draft, Infer, Kind, KindFacts, Reads, Scope, TypeMeta } from './kind.ts'
