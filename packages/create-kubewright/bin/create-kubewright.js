#!/usr/bin/env node
// `npm create kubewright`. npm links a command only if its file exists at install time, so this file is written by hand.
// Before the import, which fails on an old Node with the name of a missing export.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `create-kubewright requires Node 20.19 or later, but this is Node ${process.versions.node}: see https://nodejs.org`,
  )
  process.exit(1)
}

await import('../dist/main.js')
