import type { KindFamily } from '../kind-family.ts'
import type { Project } from '../project.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The file of the conversion between the versions of a kind. It copies all fields, which is right while the versions are equal. */
export function conversionText(project: Project, family: KindFamily): string {
  const { kind, prefix, versions, stored } = family
  const spokes = versions
    .filter((version) => version !== stored)
    .map(
      ({ version }) => `  spoke(${kind}.versions.${version}, {
    toHub: ({ spec, status }) => ({ spec, status }),
    fromHub: ({ spec, status }) => ({ spec, status }),
  }),
`,
    )
  return `${licenseHeader(project)}import { defineConversion, spoke } from 'kubewright/conversion'
${kindImport(family, `${family.stem}.conversion.ts`)}

// Copies all fields. When the versions differ, the compiler or the test shows which fields are lost.
export const ${prefix}Conversion = defineConversion(${kind}, [
${spokes.join('')}])
`
}

/** The test file of a conversion. */
export function conversionTestText(project: Project, { prefix, stem }: KindFamily): string {
  const file = stem.slice(stem.lastIndexOf('/') + 1)
  return `${licenseHeader(project)}import { checkConversion } from 'kubewright/conversion'
import { expect, test } from 'vitest'
import { ${prefix}Conversion } from './${file}.conversion.ts'

test('${prefix}Conversion loses no field between versions', () => {
  expect(checkConversion(${prefix}Conversion).roundTrips).toBeGreaterThan(0)
})
`
}
