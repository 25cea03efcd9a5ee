#!/usr/bin/env node
// Launcher of `npx kubewright`. The command itself is in @kubewright/cli, which contains the API server and therefore is no dependency of
// operators. The launcher runs the project's copy; without one it has npm download it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const own = createRequire(import.meta.url)
const { version } = own('../package.json') as { version: string }

/** The entry file of @kubewright/cli as `require` resolves it; undefined when the package is not installed there. */
function commandFrom(require: NodeJS.Require): string | undefined {
  try {
    return join(dirname(require.resolve('@kubewright/cli')), 'main.js')
  } catch {
    return undefined
  }
}

const command = commandFrom(createRequire(join(process.cwd(), 'package.json'))) ?? commandFrom(own)
if (command !== undefined) {
  // Help and usage errors print this name.
  process.argv[1] = command
  await import(pathToFileURL(command).href)
} else {
  const args = ['exec', '--yes', `--package=@kubewright/cli@${version}`, '--', 'kubewright', ...process.argv.slice(2)]
  // On Windows npm is a script, which must be started by a shell.
  const npm = spawn('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  // A terminal sends SIGINT to both processes; other signals reach only this one and are forwarded. The child sets the exit code.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => npm.kill('SIGTERM'))
  npm.on('error', ({ message }) => {
    console.error(`error: cannot download @kubewright/cli, which contains the command: npm did not start: ${message}`)
    process.exitCode = 1
  })
  npm.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
