#!/usr/bin/env node
import module from 'node:module'
import { runCommand } from './run-command.ts'
import { systemContext } from './system-context.ts'
import { interruptedCode } from './terminal/interrupted-error.ts'

// Node 22 and later keep compiled code between runs. Implementations of commands load after this line, so the next start is faster.
;(module as { enableCompileCache?: () => unknown }).enableCompileCache?.()

const context = systemContext(import.meta.url)
const code = await runCommand(process.argv.slice(2), context)
// An abandoned command must not keep the process alive.
if (code === interruptedCode) context.exitInterrupted()
process.exitCode = code
