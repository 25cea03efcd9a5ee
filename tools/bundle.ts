// Writes the JavaScript of each package: one file per entry point, with shared code in chunks. The number of files
// determines the cost of an import (docs/adr/0008-bundled-packages.md). tsc writes the declarations.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePage } from './build-page.ts'
import { bundlePackage } from './bundle-package.ts'
import { bundleProgram } from './bundle-program.ts'

const packages = readdirSync('packages').filter((name) => existsSync(join('packages', name, 'package.json')))
for (const name of packages) {
  const folder = join('packages', name)
  const written = await bundlePackage(folder)
  // After the build: if it fails, the output of the earlier one stays.
  removeOthers(join(folder, 'dist'), written)
}
await bundleProgram('packages/cli/src/up-program.ts', 'packages/cli/dist/up-program.cjs')
// After the scripts of earlier builds are removed.
await writePage()
console.log(`${packages.length} packages bundled`)

/** Removes scripts of earlier builds. Declarations stay. */
function removeOthers(folder: string, written: ReadonlySet<string>): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && /\.js(\.map)?$/.test(entry.name) && !written.has(file)) rmSync(file)
  }
}
