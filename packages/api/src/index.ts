export {
  formatMicroTime,
  formatRFC3339,
  formatRFC3339Nano,
  type Instant,
  instantFromMillis,
  isConfigMapKey,
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseMicroTime,
  parseQuantity,
  parseRFC3339,
  Quantity,
  type QuantityFormat,
} from '@kubewright/base'
export {
  aggregateText,
  type Condition,
  type ConditionDraft,
  conditionTypesOf,
  duplicate,
  FieldError,
  type FieldErrorType,
  FieldPath,
  fieldManagerMaxLength,
  forbidden,
  type IntOrString,
  internalError,
  invalid,
  type LabelSelector,
  type LabelSelectorRequirement,
  notFound,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  validateFieldManager,
} from '@kubewright/schema'
export {
  ApiError,
  findCause,
  isAlreadyExists,
  isApiError,
  isBadRequest,
  isConflict,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isMethodNotSupported,
  isNotAcceptable,
  isNotFound,
  isRequestEntityTooLarge,
  isResourceExpired,
  isServerTimeout,
  isServiceUnavailable,
  isStoreReadError,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
  isUnexpectedServerError,
  isUnsupportedMediaType,
  reasonOf,
  suggestedDelaySeconds,
} from './api-error.ts'
export {
  newAlreadyExists,
  newApplyConflict,
  newBadRequest,
  newConflict,
  newForbidden,
  newGenerateNameConflict,
  newGenericServerResponse,
  newGone,
  newInternalError,
  newInvalid,
  newMethodNotSupported,
  newNotAcceptable,
  newNotFound,
  newRequestEntityTooLarge,
  newResourceExpired,
  newServerTimeout,
  newServiceUnavailable,
  newTimeoutError,
  newTooLargeResourceVersion,
  newTooManyRequests,
  newTooManyRequestsError,
  newUnauthorized,
  newUnsupportedMediaType,
  type ServerResponseFacts,
} from './api-error-constructors.ts'
export type { ApiHandler, ApiRequest, ApiResponse, BodySink, RequestPeer } from './api-request.ts'
export { ApiSyntaxError } from './api-syntax-error.ts'
export { ApplyError } from './apply/apply-error.ts'
export {
  type AsyncFieldManager,
  type AsyncFieldManagerOptions,
  createAsyncFieldManager,
} from './apply/async-field-manager.ts'
export { type Comparison, compareTyped } from './apply/compare.ts'
export { createFieldManager } from './apply/create-field-manager.ts'
export { extractApplied } from './apply/extract-applied.ts'
export type {
  ApplyFieldsOptions,
  ApplyFieldsResult,
  FieldManager,
  FieldManagerOptions,
  UpdateFieldsOptions,
} from './apply/field-manager.ts'
export { fieldSetOf } from './apply/field-set-of.ts'
export { keepUnchangedTimes } from './apply/keep-unchanged-times.ts'
export { lastAppliedAnnotation } from './apply/last-applied.ts'
export { validateManagedFieldsEntries } from './apply/managed-fields.ts'
export { managerOrUserAgent, prefixFromUserAgent } from './apply/manager-name.ts'
export { mergeConfiguration } from './apply/merge-configuration.ts'
export { mergeTyped } from './apply/merge-typed.ts'
export { extractItems, removeItems } from './apply/remove-items.ts'
export { parentManagedFields, type ReplicasPaths, scaleManagedFields } from './apply/scale-managed-fields.ts'
export { objectTypeOf, type TypeNode } from './apply/type-node.ts'
export { TypedValueError, validateTyped } from './apply/validate-typed.ts'
export { zeroObject } from './apply/zero-object.ts'
export { type Decoded, decodeJson, parseJson, parseJsonFloats, strictDecodingMessage } from './codec/decode-json.ts'
export { decodeYaml, parseYaml } from './codec/decode-yaml.ts'
export { type EncodeJsonOptions, encodeJson } from './codec/encode-json.ts'
export { type EncodeYamlOptions, encodeYaml } from './codec/encode-yaml.ts'
export { JsonFloat, JsonReader, type JsonReaderOptions, maxJsonDepth, RepeatedNull } from './codec/json-reader.ts'
export { JsonRangeError, JsonSyntaxError } from './codec/json-syntax-error.ts'
export { looksLikeJson } from './codec/looks-like-json.ts'
export { parseManifests, splitYamlDocuments } from './codec/manifests.ts'
export {
  type ConditionStatus,
  condition,
  findCondition,
  type HasConditions,
  isConditionFalse,
  isConditionTrue,
  type MergeConditionOptions,
  mergeConditions,
  removeCondition,
  setCondition,
} from './conditions.ts'
export { apiErrorCodes } from './error-codes.ts'
export { FieldSet, type FieldsV1 } from './fieldset/field-set.ts'
export { anyElement, excludeFields, type FieldSetFilter, includeFields } from './fieldset/field-set-filter.ts'
export {
  type FieldSetPath,
  fieldSetPath,
  formatFieldSetPath,
  type PathElement,
  parsePathElement,
  serializePathElement,
} from './fieldset/path-element.ts'
export {
  formatGroupKind,
  formatGroupResource,
  formatGroupVersion,
  formatGroupVersionKind,
  formatGroupVersionResource,
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  guessPlural,
  gvkOf,
  parseGroupKind,
  parseGroupResource,
  parseGroupVersion,
  parseKindArg,
  parseResourceArg,
} from './gvk.ts'
export { intValue, parseIntOrString, scaledValue } from './int-or-string.ts'
export { JsonPath, type JsonPathOptions, relaxedJsonPath } from './json-path/json-path.ts'
export { parseSimplePath, schemaAt, valueAt } from './json-path/simple-path.ts'
export {
  type AnyKind,
  createKind,
  type Draft,
  type DraftParts,
  type Infer,
  isKind,
  type Kind,
  type KindDefinition,
  type KindFacts,
  type Reads,
  type Scope,
  type TypeMeta,
} from './kind.ts'
export type { NodeConnector, PodLogRequest } from './node-connector.ts'
export { formatKey, keyOf, type Named, type ObjectKey, parseKey, sameObject, toNameAndNamespace } from './object-key.ts'
export {
  addFinalizer,
  annotationOf,
  generateName,
  type HasMeta,
  type HasMetaDraft,
  hasFinalizer,
  isDeleting,
  type KubeList,
  type KubeObject,
  type ListMeta,
  labelOf,
  type ManagedFieldsEntry,
  type MetaDraft,
  type ObjectMeta,
  type OwnerReference,
  type ReadonlyObjectMeta,
  removeFinalizer,
  setAnnotation,
  setLabel,
} from './object-meta.ts'
export type { JsonObject } from './own-property.ts'
export {
  AlreadyOwnedError,
  controllerOf,
  controllerRef,
  isControlledBy,
  isOwnedBy,
  type Owned,
  type Owner,
  ownerRef,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.ts'
export { createJsonPatch } from './patch/create-json-patch.ts'
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatchLimits,
  type JsonPatchOperation,
  maxJsonPatchOperations,
  unknownJsonPatchFields,
} from './patch/json-patch.ts'
export { applyMergePatch, createMergePatch, createThreeWayMergePatch, decodeMergePatch } from './patch/merge-patch.ts'
export { PatchError, PatchTestError } from './patch/patch-error.ts'
export { type PatchPrecondition, requireKeyUnchanged, requireMetadataKeyUnchanged } from './patch/preconditions.ts'
export {
  createThreeWayStrategicMergePatch,
  createTwoWayStrategicMergePatch,
  type ThreeWayOptions,
} from './patch/strategic/create-strategic-merge-patch.ts'
export { patchesConflict } from './patch/strategic/patches-conflict.ts'
export {
  applyStrategicMergePatch,
  decodeStrategicMergePatch,
  printedStrategicPatch,
} from './patch/strategic/strategic-merge.ts'
export {
  type CrdConversion,
  type CrdManifest,
  type CrdNames,
  type CrdOptions,
  type CrdVersion,
  crdOf,
} from './resource/crd-of.ts'
export { defineResource } from './resource/define-resource.ts'
export {
  type ResolvedColumn,
  type ResolvedResource,
  type ResolvedVersion,
  resourceOf,
} from './resource/resolved-resource.ts'
export type {
  AnySchema,
  AnyVersions,
  Column,
  FieldPathText,
  MultiVersionDefinition,
  MultiVersionKind,
  OneOfVersions,
  ResourceDefinition,
  ResourceKind,
  ResourceNames,
  ResourceRead,
  ResourceWrite,
  Scale,
  VersionDefinition,
} from './resource/resource-definition.ts'
export {
  compareResourceVersions,
  isComparableResourceVersion,
  parseResourceVersion,
  parseUintProblem,
} from './resource-version.ts'
export { NotRegisteredError, Scheme } from './scheme.ts'
export {
  escapeFieldValue,
  type FieldRequirement,
  FieldSelector,
  parseFieldSelector,
  type SelectableFields,
  unescapeFieldValue,
} from './selectors/field-selector.ts'
export {
  formatLabelSelector,
  type LabelSelectorLike,
  type LabelSelectorRequirementLike,
  type LabelSelectorValidationOptions,
  labelSelectorAsMap,
  parseToLabelSelector,
  selectorFrom,
  validateLabelSelector,
  validateLabels,
} from './selectors/label-selector.ts'
export { parseSelector } from './selectors/parse-selector.ts'
export { type LabelSet, newRequirement, Requirement, type SelectionOperator } from './selectors/requirement.ts'
export { Selector } from './selectors/selector.ts'
export { type SemanticEqualOptions, semanticEqual } from './semantic-equal.ts'
export {
  type CauseType,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
  statusFromJson,
} from './status.ts'
export { fromTime, toMicroTime, toTime } from './time.ts'
export { compareVersionPriority } from './version-priority.ts'
