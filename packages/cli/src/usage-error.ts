/** A mistake in how the command was called: its message says what to do instead. Ends the command with exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
