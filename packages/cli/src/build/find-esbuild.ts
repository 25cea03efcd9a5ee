import { createRequire } from 'node:module'
import { UsageError } from '@kubewright/base'
import type { Esbuild } from './esbuild.ts'

/**
 * Loads the esbuild of a project: its own, or that of its tsx. Kubewright does not depend on it, because it is native code that
 * one command needs (ADR 2).
 */
export function findEsbuild(file: string, project: string): Esbuild {
  const own = createRequire(file)
  const tsx = resolved(own, 'tsx')
  const path = resolved(own, 'esbuild') ?? (tsx === undefined ? undefined : resolved(createRequire(tsx), 'esbuild'))
  if (path === undefined) {
    throw new UsageError(`esbuild is not installed in ${project}: run npm install --save-dev esbuild`)
  }
  return own(path) as Esbuild
}

function resolved(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(name)
  } catch {
    return undefined
  }
}
