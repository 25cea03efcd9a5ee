import type { KindFamily } from '../kind-family.ts'
import { withArticle } from '../kind-names.ts'
import type { Project } from '../project.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The conversion between the versions of a kind: as long as they are equal, everything is handed on. */
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

// Equal fields are handed on as they are. Where the versions differ, the compiler or the test shows what gets lost.
export const ${prefix}Conversion = defineConversion(${kind}, [
${spokes.join('')}])
`
}

/** The test of a conversion. */
export function conversionTestText(project: Project, { kind, prefix, stem }: KindFamily): string {
  const file = stem.slice(stem.lastIndexOf('/') + 1)
  return `${licenseHeader(project)}import { checkConversion } from 'kubewright/conversion'
import { expect, test } from 'vitest'
import { ${prefix}Conversion } from './${file}.conversion.ts'

test('nothing of ${withArticle(kind)} is lost between its versions', () => {
  expect(checkConversion(${prefix}Conversion).roundTrips).toBeGreaterThan(0)
})
`
}
