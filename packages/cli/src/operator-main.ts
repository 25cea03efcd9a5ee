// The process in which `kubewright dev` runs an operator. Its arguments are the module of the operator and the operator's flags.
import { UsageError } from '@kubewright/base'
import { explainError } from './command/explain-error.ts'
import { operatorProcess } from './dev/operator-process.ts'
import { parentChannel } from './dev/parent-channel.ts'
import { systemContext } from './system-context.ts'

const context = systemContext(import.meta.url)
const channel = parentChannel()
if (channel === undefined) {
  context.note('kubewright dev starts this program: it cannot run by itself')
  process.exit(2)
}
try {
  await operatorProcess(process.argv.slice(2), context, channel)
} catch (error) {
  context.note(`kubewright dev: ${explainError(error)}`)
  process.exit(error instanceof UsageError ? 2 : 1)
}
