import type { KindFamily } from '../kind-family.ts'
import { importPath } from '../kind-names.ts'

/** The import of a kind in a file of the project. */
export function kindImport({ kind, isForeign, stem, stored }: KindFamily, file: string): string {
  if (!isForeign) return `import { ${kind} } from '${importPath(file, `${stem}.ts`)}'`
  const isFile = stored.path.endsWith('.ts')
  return `import { ${kind} } from '${isFile ? importPath(file, stored.path.replace(/^\.\//, '')) : stored.path}'`
}
