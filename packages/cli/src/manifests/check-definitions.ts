import { checkStructural } from '@kubewright/schema'
import type { OperatorDescription } from './operator-description.ts'

/** Throws what API servers would say against the schemas and rules of an operator's definitions, if they would. */
export function checkDefinitions({ resources }: Pick<OperatorDescription, 'resources'>): void {
  const problems = resources.flatMap(({ crd }) =>
    crd.spec.versions.flatMap(({ name, schema, subresources }) =>
      checkStructural(schema.openAPIV3Schema, { statusSubresource: subresources?.status !== undefined }).map(
        (error) => `${crd.spec.names.kind} ${name}: ${error.toString()}`,
      ),
    ),
  )
  if (problems.length > 0) throw new Error(`API servers would refuse what is defined:\n  ${problems.join('\n  ')}`)
}
