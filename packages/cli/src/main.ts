#!/usr/bin/env node
import module from 'node:module'
import { systemClock } from '@kubewright/base'
import { runCommand } from './run-command.ts'

// Node 22 and later keep compiled code between runs: commands are loaded after this and start faster the second time.
;(module as { enableCompileCache?: () => unknown }).enableCompileCache?.()

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // Whoever asks twice does not want to wait.
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    stop.abort()
  })
}
// Whoever reads the first lines only, as `head` does, has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})
process.exitCode = await runCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  note: (line) => console.error(line),
  env: process.env,
  clock: systemClock,
  // The system clock's monotonic time counts from the start of the process.
  startedAt: 0,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  signal: stop.signal,
})
