/** Receives what the handling of one request learns for its audit event. */
export interface AuditRecord {
  /**
   * Records the object of the request body. `object` is called at once, and only if the level of the event includes bodies, so that the caller
   * may change the object afterwards.
   */
  requestObject(
    metadata: {
      readonly name?: string | undefined
      readonly namespace?: string | undefined
      readonly uid?: string | undefined
      readonly resourceVersion?: string | undefined
    },
    object: () => unknown,
  ): void
  /** Records the body of a patch or of the options of a delete. */
  requestBody(value: () => unknown): void
  /** Records the user that the client impersonates. */
  impersonated(user: { readonly name: string; readonly groups: readonly string[] }): void
  /** Adds an annotation. The first value of a key counts. */
  annotate(key: string, value: string): void
}
