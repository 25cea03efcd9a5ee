#!/usr/bin/env node
// `npm create kubewright`. npm links a command only if its file exists at install time, so this file is written by hand.
await import('../dist/main.js')
