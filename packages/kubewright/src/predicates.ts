// Predicates: which changes of an object reconcile its key.
export {
  and,
  annotationsChanged,
  changed,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  type Predicate,
  resourceVersionChanged,
  when,
} from '@kubewright/runtime'
