import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Makes a folder look like a clone of the repository in which files may be created. */
export function linkClone(folder: string): void {
  for (const name of ['package.json', 'node_modules', 'packages', 'tools', 'vitest.config.ts', 'tsconfig.base.json']) {
    symlinkSync(join(root, name), join(folder, name))
  }
  // A copy, because tutorials create files there.
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true })
}
