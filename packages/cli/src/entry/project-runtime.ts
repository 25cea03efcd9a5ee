import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** What an operator is run with. */
export type Runtime = typeof import('@kubewright/runtime')

/**
 * The copy of the runtime that a module of a project uses, else the one of this command: what runs the operator must know the values
 * that it is made of, and is what it will run with in production.
 */
export async function projectRuntime(file: string): Promise<Runtime> {
  const require = createRequire(file)
  for (const name of ['kubewright/runtime', '@kubewright/runtime']) {
    let found: string
    try {
      found = require.resolve(name)
    } catch {
      continue
    }
    // What the package is called by says what it has; versions are kept in step by the package manager.
    return (await import(pathToFileURL(found).href)) as Runtime
  }
  return import('@kubewright/runtime')
}
