// Controllers that are defined by the objects that they keep.
export {
  type Dependent,
  type DependentContext,
  type DependentOptions,
  type DependentsOptions,
  defineDependents,
  dependent,
  isReady,
  type ReadDependents,
} from '@kubewright/runtime'
