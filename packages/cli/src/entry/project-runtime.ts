import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The module `@kubewright/runtime`. */
export type Runtime = typeof import('@kubewright/runtime')

/**
 * The copy of the runtime that a module of a project imports, else that of this command. The operator must run with the copy that defined
 * it, which is also the one that it runs with in production.
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
    // The package manager keeps the versions of all packages equal, so the copy has the same exports.
    return (await import(pathToFileURL(found).href)) as Runtime
  }
  return import('@kubewright/runtime')
}
