#!/usr/bin/env node
import module from 'node:module'
import { systemClock } from '@kubewright/base'
import { interruptedCode, runCommand } from './run-command.ts'
import { systemTerminal } from './terminal/system-terminal.ts'

// Node 22 and later keep compiled code between runs: commands are loaded after this and start faster the second time.
;(module as { enableCompileCache?: () => unknown }).enableCompileCache?.()

const { stdout, stderr, env } = process
const { eraseKey, ...screen } = systemTerminal({ stdout, stderr, env, clock: systemClock })
const stop = new AbortController()
const signalCodes = { SIGINT: interruptedCode, SIGTERM: 143 } as const
let stoppedBy: keyof typeof signalCodes = 'SIGINT'
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (name === 'SIGINT') eraseKey()
    // Whoever asks twice does not want to wait.
    if (stop.signal.aborted) process.exit(signalCodes[name])
    stoppedBy = name
    stop.abort()
  })
}
// Whoever reads the first lines only, as `head` does, has seen enough; the work is done to its end all the same, and the code tells of it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
const code = await runCommand(process.argv.slice(2), {
  ...screen,
  env,
  clock: systemClock,
  // The system clock's monotonic time counts from the start of the process.
  startedAt: 0,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  signal: stop.signal,
})
// What an interrupted command left undone must not keep the process.
if (code === interruptedCode) process.exit(signalCodes[stoppedBy])
process.exitCode = code
