/** An object does not match the schema that it is applied with. */
export class ApplyError extends Error {
  static {
    Object.defineProperty(ApplyError.prototype, 'name', { value: 'ApplyError', configurable: true })
  }
}
