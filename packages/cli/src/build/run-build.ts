import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { programArgument } from '../entry/entry-argument.ts'
import { type Entry, findProgram } from '../entry/find-entry.ts'
import { plural } from '../text/plural.ts'
import type { buildFlags } from './build-command.ts'
import { type Esbuild, type EsbuildFailure, type EsbuildPlugin, type EsbuildResult, isBuildFailure } from './esbuild.ts'
import { findEsbuild } from './find-esbuild.ts'
import { serverImport } from './server-import.ts'

type BuildInput = CommandInput<typeof buildFlags, typeof programArgument>

/** Bundles the program of an operator. Writes nothing if that fails. */
export async function runBuild(input: BuildInput, context: CommandContext): Promise<number> {
  const { flags, args } = input
  const folder = folderOf(context)
  const entry = await findProgram(args.entry, folder)
  if (!flags.outfile.endsWith('.mjs')) {
    throw new UsageError(`--outfile ${flags.outfile} must end with .mjs, so that node reads it as an ES module`)
  }
  const outfile = resolve(entry.project, flags.outfile)
  const esbuild = findEsbuild(entry.file, entry.project)
  let result: EsbuildResult
  try {
    result = await bundle(esbuild, entry, outfile, flags)
  } catch (error) {
    if (!isBuildFailure(error)) throw error
    for (const line of failureLines(error, entry.name)) context.note(line)
    return 1
  }
  const chain = serverImport(result.metafile, entry.project)
  if (chain !== undefined) {
    throw new UsageError(
      `${entry.name} contains the embedded control plane, which is for tests and development: remove the import (${chain.join(' imports ')})`,
    )
  }
  await mkdir(dirname(outfile), { recursive: true })
  for (const { path, contents } of result.outputFiles) await writeFile(path, contents)
  report(result, relative(folder, outfile), entry.name, context)
  return 0
}

async function bundle(
  esbuild: Esbuild,
  entry: Entry,
  outfile: string,
  flags: BuildInput['flags'],
): Promise<EsbuildResult> {
  const build = (banner: string): Promise<EsbuildResult> =>
    esbuild.build({
      entryPoints: [entry.file],
      outfile,
      absWorkingDir: entry.project,
      write: false,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      conditions: nodeConditions(),
      external: flags.external,
      sourcemap: flags['source-map'] ? 'linked' : false,
      // Less text to scan at the start. Names stay, so that stack traces are readable without a source map.
      minifySyntax: true,
      minifyWhitespace: true,
      lineLimit: 200,
      banner: { js: banner },
      metafile: true,
      logLevel: 'silent',
      plugins: [regexEngine],
    })
  const result = await build('')
  // A package that is CommonJS requires the modules of Node. Only then is `require` free for a declaration.
  const needsRequire = result.outputFiles.some(({ text }) => text.includes('Dynamic require of'))
  return needsRequire ? build(requireBanner) : result
}

const requireBanner =
  'import{createRequire as kubewrightRequire}from"node:module";const require=kubewrightRequire(import.meta.url);'

/** The conditions that this process resolves packages with, so that the file contains the modules that `kubewright run` loads. */
function nodeConditions(): string[] {
  return process.execArgv.flatMap((arg, i, all) => {
    if (arg === '-C' || arg === '--conditions') return all[i + 1] ?? []
    return /^--conditions=(.+)$/.exec(arg)?.[1] ?? []
  })
}

/**
 * `@kubewright/cel` requires its engine for rare regular expressions when it needs it. In a form that esbuild recognises, the engine becomes
 * part of the file and is still evaluated on first use.
 */
const regexEngine: EsbuildPlugin = {
  name: 'kubewright-regex-engine',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]cel[\\/](?:dist|src)[\\/].*\.[jt]s$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replace(/createRequire\(import\.meta\.url\)\((["']re2js["'])\)/, 'require($1)')
      return contents === text ? undefined : { contents, loader: 'ts' }
    })
  },
}

function report(
  { metafile, outputFiles }: EsbuildResult,
  file: string,
  program: string,
  { out, note }: CommandContext,
): void {
  for (const { exports, inputs } of Object.values(metafile.outputs)) {
    const modules = Object.values(inputs).filter(({ bytesInOutput }) => bytesInOutput > 0).length
    if (modules === 0) continue
    const bytes = outputFiles.find(({ path }) => path.endsWith('.mjs'))?.contents.length ?? 0
    out(`Wrote ${file} (${Math.ceil(bytes / 1024)} KiB, ${plural(modules, 'module')})`)
    if (exports.length > 0) {
      note(
        `${program} exports ${exports.join(', ')}: the file starts the operator only if the module calls run(operator)`,
      )
    }
  }
}

function failureLines({ errors }: EsbuildFailure, program: string): string[] {
  const lines = errors.map(({ text, location }) => {
    const cure = text.includes('No loader is configured for ".node" files')
      ? ' (native code cannot be bundled: leave its package out with --external PACKAGE)'
      : ''
    const place = location === null ? '' : `${location.file}:${location.line}:${location.column + 1}: `
    return `  ${place}${text}${cure}`
  })
  return [`kubewright build: ${program} cannot be bundled`, ...lines]
}
