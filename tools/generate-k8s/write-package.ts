import type { ApiFacts } from './api-facts.ts'
import { descriptionsModule, readDescriptions } from './read-descriptions.ts'
import { writeDiscovery } from './write-discovery.ts'
import { type Files, writeModules } from './write-modules.ts'

/** Writes all generated modules of packages/k8s. */
export function writePackage(facts: ApiFacts): Files {
  const descriptions = readDescriptions()
  const files = writeModules(facts, descriptions)
  files.set('generated/discovery.ts', writeDiscovery(facts))
  files.set('generated/descriptions.ts', descriptionsModule(descriptions))
  return files
}
