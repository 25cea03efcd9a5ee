#!/usr/bin/env node
// `npm create kubewright [FOLDER] [-- OPTIONS]`: creates the folder and runs `kubewright init` in it.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { planCreation } from './plan-creation.ts'

const { folder, args, enter } = planCreation(process.argv.slice(2), process.cwd())
mkdirSync(folder, { recursive: true })
const command = join(dirname(fileURLToPath(import.meta.resolve('@kubewright/cli'))), '../bin/kubewright.js')
const child = spawn(process.execPath, [command, ...args], { cwd: folder, stdio: 'inherit' })
// A terminal sends SIGINT to both processes; other signals reach only this one and are forwarded. The child sets the exit code.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
  // init has printed the other commands.
  if (code === 0 && enter !== undefined && !args.includes('--help')) console.error(`First: ${enter}`)
})
