#!/usr/bin/env node
// The command for `npx kubewright`. It is in @kubewright/cli, which has the API server in it and so is no dependency of operators: the
// project's copy does the work, and where there is none, npm gets one.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const own = createRequire(import.meta.url)
const { version } = own('../package.json') as { version: string }

/** The file of the command, as seen from a place. */
function commandFrom(require: NodeJS.Require): string | undefined {
  try {
    return join(dirname(require.resolve('@kubewright/cli')), 'main.js')
  } catch {
    return undefined
  }
}

const command = commandFrom(createRequire(join(process.cwd(), 'package.json'))) ?? commandFrom(own)
if (command !== undefined) {
  // It calls itself by this name.
  process.argv[1] = command
  await import(pathToFileURL(command).href)
} else {
  const args = ['exec', '--yes', `--package=@kubewright/cli@${version}`, '--', 'kubewright', ...process.argv.slice(2)]
  // On Windows npm is a script, which only a shell can start.
  const npm = spawn('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  // A terminal tells both of them about Ctrl-C; of other signals only this process knows. The command says what comes of either.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => npm.kill('SIGTERM'))
  npm.on('error', ({ message }) => {
    console.error(`error: npm is needed to get @kubewright/cli, where the command is: ${message}`)
    process.exitCode = 1
  })
  npm.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
