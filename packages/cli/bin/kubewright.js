#!/usr/bin/env node
// The `kubewright` command. npm links a command only if its file exists at install time, so this file is written by hand: a clone has no
// dist before its first build. A clone runs the sources, which are never stale; the published package runs dist.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Before the import, which fails on an old Node with the name of a missing export.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `kubewright requires Node 20.19 or later, but this is Node ${process.versions.node}: see https://nodejs.org`,
  )
  process.exit(1)
}

// The published package does not contain tsconfig.json.
if (existsSync(new URL('../tsconfig.json', import.meta.url))) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const flags = ['--conditions=kubewright-source', '--import', import.meta.resolve('tsx')]
  const command = spawn(process.execPath, [...flags, main, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends SIGINT to both processes; other signals reach only this one and are forwarded. The child sets the exit code.
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => command.kill(signal))
  command.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  await import('../dist/main.js')
}
