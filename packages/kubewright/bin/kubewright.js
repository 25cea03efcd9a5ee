#!/usr/bin/env node
// The `kubewright` command of the façade. npm links a command only if its file exists at install time, so this file is written by hand: a
// clone has no dist before its first build. A clone runs the command from source; the published package runs its launcher.
import { existsSync } from 'node:fs'

// Before the import, which fails on an old Node with the name of a missing export.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `kubewright requires Node 20.19 or later, but this is Node ${process.versions.node}: see https://nodejs.org`,
  )
  process.exit(1)
}

// The published package does not contain tsconfig.json.
const inClone = existsSync(new URL('../tsconfig.json', import.meta.url))
await import(inClone ? '../../cli/bin/kubewright.js' : '../dist/main.js')
