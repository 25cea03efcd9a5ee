// What an operator's author imports first. Built-in kinds are in 'kubewright/k8s'.
export {
  type AnyKind,
  ApiError,
  condition,
  crdOf,
  type Draft,
  defineResource,
  type Infer,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Kind,
  sameObject,
} from '@kubewright/api'
export type { DeepReadonly, Duration, Logger } from '@kubewright/base'
export type { CallOptions, Client, Key, ListOptions, Reader } from '@kubewright/client'
export {
  type Context,
  type Controller,
  defineController,
  defineOperator,
  defineWebhook,
  duplicate,
  forbidden,
  type Issue,
  invalid,
  type Operator,
  type Outcome,
  type Review,
  type Watch,
  type Webhook,
  warning,
  watch,
} from '@kubewright/runtime'
export { type Condition, type PathOf, s } from '@kubewright/schema'
