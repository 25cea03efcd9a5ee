// What V8 says when code in strict mode changes a frozen object.
const readOnly = /read only property|object is not extensible|Cannot delete property|read-only/

const advice =
  'objects that a reconciler or a webhook receives are read-only and shared: change a copy, as in const copy = structuredClone(object), or apply a new draft'

/** Adds the cure to the error of code that changed an object of the cache. Other errors stay as they are. */
export function explainReadOnly(error: unknown): void {
  if (!(error instanceof TypeError) || !readOnly.test(error.message) || error.message.endsWith(advice)) return
  const { message, stack } = error
  error.message = `${message}: ${advice}`
  // The stack contains the message as it was when the error was created.
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message)
}
