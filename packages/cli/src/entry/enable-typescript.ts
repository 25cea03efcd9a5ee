import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { UsageError } from '@kubewright/base'

/**
 * Makes a TypeScript module of a project importable in this process: with tsx if the project has it, else with the type stripping of
 * Node. Throws a UsageError if neither is available. Stack traces show lines of the sources.
 */
export async function enableTypeScript(file: string): Promise<void> {
  process.setSourceMapsEnabled(true)
  if (!/\.[cm]?tsx?$/.test(file) || isAlreadyEnabled()) return
  const tsx = tsxFor(file)
  if (tsx !== undefined) {
    // The same as node --import tsx.
    await import(pathToFileURL(tsx).href)
    return
  }
  if ((process.features as { typescript?: unknown }).typescript) return
  throw new UsageError(
    `${file} is TypeScript, which Node ${process.versions.node} cannot load: run npm install --save-dev tsx, or use Node 22.18 or later`,
  )
}

/** Whether this process was started with tsx. Loading it twice would compile every module twice. */
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
