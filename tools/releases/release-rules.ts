import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isReleaseRule, type ReleaseRule } from '@kubewright/k8s/releases'

const packages = join(import.meta.dirname, '..', '..', 'packages')

/** All rules about releases in the packages, in the order of their files. A rule must be exported by the file that defines it. */
export async function releaseRules(): Promise<ReleaseRule[]> {
  const rules: ReleaseRule[] = []
  for (const file of filesWithRules()) {
    const values = Object.values((await import(pathToFileURL(file).href)) as Record<string, unknown>)
    const found = values.filter(isReleaseRule)
    const defined = [...readFileSync(file, 'utf8').matchAll(/= releaseRule\(/g)].length
    if (found.length !== defined) {
      throw new Error(`${file} defines ${defined} release rules and exports ${found.length}: export every rule`)
    }
    rules.push(...found)
  }
  return rules
}

function filesWithRules(): string[] {
  return readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file) && !/\.test(-d)?\.ts$/.test(file))
    .map((file) => join(packages, file))
    .filter((file) => readFileSync(file, 'utf8').includes('= releaseRule('))
    .sort()
}
