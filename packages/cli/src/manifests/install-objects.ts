import { buildConfig } from './config-build.ts'
import { configFiles } from './config-files.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import type { ManifestOptions } from './manifest-options.ts'
import type { OperatorDescription } from './operator-description.ts'

/** All objects of an operator with an unchanged config/, in an order in which they can be applied. */
export function installObjects(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  const texts = new Map([...configFiles(operator, options)].map(([path, { text }]) => [path, text]))
  return buildConfig(texts).map(({ object }) => object)
}

/** The CRDs of an operator, as `install` applies them. */
export function definitionsOf(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  return installObjects(operator, options).filter(({ kind }) => kind === 'CustomResourceDefinition')
}

/** The text of dist/install.yaml for an unchanged config/. */
export function installManifest(operator: OperatorDescription, options: ManifestOptions = {}): string {
  return yamlOf(...installObjects(operator, options))
}
