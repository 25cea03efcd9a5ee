import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { UsageError } from '@kubewright/base'

/**
 * Makes a TypeScript module of a project importable in this process: with tsx where the project has it, else by what Node itself can
 * do. Throws a UsageError that names the cure where neither is there. Errors then show the lines of the sources.
 */
export async function enableTypeScript(file: string): Promise<void> {
  process.setSourceMapsEnabled(true)
  if (!/\.[cm]?tsx?$/.test(file) || isAlreadyEnabled()) return
  const tsx = tsxFor(file)
  if (tsx !== undefined) {
    // Importing it is what node --import tsx does.
    await import(pathToFileURL(tsx).href)
    return
  }
  if ((process.features as { typescript?: unknown }).typescript) return
  throw new UsageError(
    `${file} is TypeScript, which Node ${process.versions.node} cannot load by itself: npm install --save-dev tsx, or use Node 22.18 or later`,
  )
}

/** Whether this process was started with tsx: loading it twice would compile everything twice. */
function isAlreadyEnabled(): boolean {
  return process.execArgv.some((arg) => /(^|[/=\\])tsx([/\\]|$)/.test(arg))
}

function tsxFor(file: string): string | undefined {
  try {
    return createRequire(file).resolve('tsx')
  } catch {
    return undefined
  }
}
