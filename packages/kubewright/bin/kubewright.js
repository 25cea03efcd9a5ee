#!/usr/bin/env node
// The `kubewright` command of the façade. npm links a command only if its file exists at install time, so this file is written by hand: a
// clone has no dist before its first build. A clone runs the command from source; the published package runs its launcher.
import { existsSync } from 'node:fs'

// The published package does not contain tsconfig.json.
const inClone = existsSync(new URL('../tsconfig.json', import.meta.url))
await import(inClone ? '../../cli/bin/kubewright.js' : '../dist/main.js')
