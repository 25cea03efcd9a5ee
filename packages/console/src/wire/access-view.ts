/** Who may use one verb on an object. */
export interface AccessView {
  readonly verb: string
  /** Whether the user of this console may. */
  readonly isAllowed: boolean
  /** The subjects that RBAC allows it, such as `ServiceAccount default/web`; absent if the user may not read RBAC objects. */
  readonly subjects?: readonly SubjectView[] | undefined
}

/** A subject with the binding that gives it a permission. */
export interface SubjectView {
  readonly subject: string
  readonly binding: string
}
