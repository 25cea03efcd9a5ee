import { KubewrightError } from '@kubewright/base'
import { checkStructural } from '@kubewright/schema'
import type { OperatorDescription } from './operator-description.ts'

/** Throws an error that lists the problems for which API servers would reject the CRDs of an operator. */
export function checkDefinitions({ resources }: Pick<OperatorDescription, 'resources'>): void {
  const problems = resources.flatMap(({ crd }) =>
    crd.spec.versions.flatMap(({ name, schema, subresources }) =>
      checkStructural(schema.openAPIV3Schema, { statusSubresource: subresources?.status !== undefined }).map(
        (error) => `${crd.spec.names.kind} ${name}: ${error.toString()}`,
      ),
    ),
  )
  if (problems.length > 0)
    throw new KubewrightError('KW_MANIFEST', `API servers would reject these CRDs:\n  ${problems.join('\n  ')}`)
}
