/** Returns the key under which an environment registers a macro and the parser looks it up. */
export function macroKey(fn: string, argCount: number, receiver: boolean): string {
  return `${fn}:${argCount}:${receiver}`
}
