// A worker process of `kubewright up --workers N`.
import module from 'node:module'
import { explainError } from './command/explain-error.ts'
import { systemContext } from './system-context.ts'
import { runWorker } from './up/run-worker.ts'

;(module as { enableCompileCache?: () => unknown }).enableCompileCache?.()

const context = systemContext(import.meta.url)
if (process.send === undefined) {
  context.note('kubewright up starts this program: it cannot run by itself')
  process.exit(2)
}
// The main process decides when a worker stops. A terminal and a service manager send their signals to all processes at once.
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.removeAllListeners(name)
  process.on(name, () => undefined)
}
// A worker never outlives the main process.
process.once('disconnect', () => process.exit(1))
try {
  await runWorker(context)
  process.exit(0)
} catch (error) {
  context.note(explainError(error))
  process.exit(1)
}
