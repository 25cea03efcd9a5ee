/**
 * Stops the attached debugger, if there is one. `next` describes what happens next. The callers of this frame are the
 * transport of the simulation and then the code of the operator that sends the request.
 */
export function stopInDebugger(next: string): void {
  void next
  // biome-ignore lint/suspicious/noDebugger: the purpose of the option `inspect`
  debugger
}
