import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Texts of Node, esbuild and tsx for ES modules that are loaded as CommonJS.
const asCommonJs =
  /Top-level await is currently not supported with the "cjs" output format|Cannot use import statement outside a module|ERR_REQUIRE_ASYNC_MODULE|ERR_REQUIRE_ESM|require\(\) cannot be used on an ESM graph/
// And for CommonJS code that is loaded as an ES module.
const asEsModule = /\b(require|module|exports|__dirname|__filename) is not defined( in ES module scope)?/

/** The fix for an error that comes from mixing CommonJS and ES modules; undefined for other errors. */
export function moduleProblem(file: string, error: unknown): string | undefined {
  const text = textOf(error)
  const requiring = requiringFile(error)
  if (requiring !== undefined) {
    return `${requiring} is CommonJS and requires an ES module: rename it to .ts or .mts, or load the module with import()`
  }
  if (asCommonJs.test(text)) {
    const found = packageFile(dirname(file))
    const isModule = found !== undefined && found.type === 'module'
    return isModule
      ? 'a CommonJS file requires an ES module with top-level await: rename the file from .cts or .cjs to .ts, or load it with import()'
      : `the project is CommonJS, and Kubewright needs ES modules: add "type": "module" to ${found?.path ?? 'package.json'}, or rename the file to .mts`
  }
  const [, name] = asEsModule.exec(text) ?? []
  if (name === undefined) return undefined
  return `'${name}' exists in CommonJS only: use import instead, or rename the file that uses it to .cjs or .cts`
}

/** The CommonJS file that required an ES module while it was being loaded. Node 20 reports that as an error of its own code. */
function requiringFile(error: unknown): string | undefined {
  const { message = '', stack = '' } = error instanceof Error ? error : {}
  if (!message.includes("reading 'exports'") || !stack.includes('internal/modules/esm/translators')) return undefined
  return /\(?((?:file:\/\/)?[^\s()]+\.c[jt]s)[:)]/.exec(stack)?.[1]
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '' } = error as { readonly code?: string | undefined }
  return `${code} ${error.name}: ${error.message}`
}

/** The package.json that decides how a file of the folder is loaded. */
function packageFile(folder: string): { readonly path: string; readonly type: unknown } | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'package.json')
    if (existsSync(path)) {
      try {
        return { path, type: (JSON.parse(readFileSync(path, 'utf8')) as { type?: unknown }).type }
      } catch {
        return { path, type: undefined }
      }
    }
    if (at === dirname(at)) return undefined
  }
}
