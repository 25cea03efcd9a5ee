import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { isJsonObject, KubewrightError } from '@kubewright/base'
import { readText } from '../../text/read-text.ts'

/** The files below a folder by path, without node_modules and .git. */
export function filesIn(folder: string): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    if (!entry.isFile() || /(?:^|\/)(?:node_modules|\.git)\//.test(path)) continue
    files.set(path, readText(join(folder, path))!)
  }
  return files
}

/**
 * The files that an old version scaffolds for a PROJECT file. Runs the version that is installed in the project if it is the
 * right one, else downloads it with npx. Throws an error that names the fix.
 */
export async function oldScaffold(folder: string, version: string): Promise<Map<string, string>> {
  const parent = mkdtempSync(join(tmpdir(), 'kubewright-upgrade-'))
  try {
    // Some names in the scaffold are derived from the PROJECT file alone.
    writeFileSync(join(parent, 'PROJECT'), readFileSync(join(folder, 'PROJECT')))
    const installed = installedProgram(folder, version)
    const [program, args] = installed === undefined ? ['npx', ['--yes', `@kubewright/cli@${version}`]] : installed
    await run(program, [...args, 'init', '--replay'], parent, version)
    return filesIn(parent)
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

/** The command line of the installed version; undefined if another one or none is installed. */
function installedProgram(folder: string, version: string): readonly [string, readonly string[]] | undefined {
  const module = join(folder, 'node_modules/@kubewright/cli')
  const text = readText(join(module, 'package.json'))
  const manifest: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isJsonObject(manifest) || manifest['version'] !== version || !isJsonObject(manifest['bin'])) return undefined
  const bin = manifest['bin']['kubewright']
  return typeof bin === 'string' ? [process.execPath, [join(module, bin)]] : undefined
}

function run(program: string, args: readonly string[], cwd: string, version: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { cwd, timeout: 300_000 }, (error, _, errors) => {
      if (error === null) return resolve()
      const why = errors.trim() === '' ? error.message : errors.trim()
      reject(
        new KubewrightError(
          'KW_PROJECT',
          `The files of version ${version} cannot be written: check the registry of npm, install @kubewright/cli@${version} in the project, or name a folder with these files with --base\n${why}`,
          { cause: error },
        ),
      )
    })
  })
}
