import type { Project } from '../project.ts'
import { licenseHeader } from './license-header.ts'

/** The file of the operator, without any parts. */
export function operatorText(project: Project): string {
  return `${licenseHeader(project)}import { defineOperator } from 'kubewright'

export const operator = defineOperator({
  name: '${project.projectName}',
  controllers: [],
  leaderElection: true,
})
`
}

/** The file of the program that runs the operator. */
export function mainText(project: Project): string {
  return `${licenseHeader(project)}import { run } from 'kubewright'
import { operator } from './operator.ts'

await run(operator)
`
}
