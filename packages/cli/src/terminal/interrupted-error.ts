import { CaughtError } from '@kubewright/base'

/** The exit code of an interrupted command: the same as if SIGINT had ended it. */
export const interruptedCode = 130

/** The user interrupted the command. It ends with {@link interruptedCode}, and the message does not count as a failure. */
export class InterruptedError extends CaughtError {
  constructor() {
    super('interrupted')
    this.name = 'InterruptedError'
  }
}
