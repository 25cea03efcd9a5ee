#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { codeCacheFolder, loadProgram } from './load-program.ts'

const args = process.argv.slice(2)
// `npm run build` bundles `up` into one file. The sources have none.
const program = fileURLToPath(new URL('./up-program.cjs', import.meta.url))
const up =
  args[0] === 'up'
    ? loadProgram<typeof import('./up-program.ts')>(program, codeCacheFolder(process.env, process.platform))
    : undefined
if (up !== undefined) {
  await up.exports.runUpProgram(args.slice(1), import.meta.url, up.save, () => import('@kubewright/console'))
} else {
  // Node 22 and later keep compiled code between runs. Implementations of commands load after this line, so the next start is faster.
  ;(module as { enableCompileCache?: (() => unknown) | undefined }).enableCompileCache?.()
  const { runCommandProgram } = await import('./command-program.ts')
  await runCommandProgram(args, import.meta.url)
}
