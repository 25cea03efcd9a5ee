/** Somebody wants the command to end: it does so without saying that something went wrong, and with the exit code of a signal. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted')
    this.name = 'InterruptedError'
  }
}
