import type { FamilyController, KindFamily } from '../kind-family.ts'
import type { Project } from '../project.ts'
import { deployImageController } from './deploy-image-controller.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** A controller of a kind. */
export function controllerText(project: Project, family: KindFamily, controller: FamilyController): string {
  const isMain = controller === family.controllers[0]
  if (isMain && family.image !== undefined) return deployImageController(project, family, controller, family.image)
  const file = `${controller.stem}.controller.ts`
  const { kind, variable } = family
  const reportsStatus = isMain && !family.isForeign
  const name = controller.name === undefined ? '' : `  name: '${controller.name}',\n\n`
  const body = reportsStatus
    ? `    log.info('Looking after it', { generation: ${variable}.metadata.generation })
    return { status: { conditions: [condition('Ready', true, 'Reconciled')] } }`
    : `    log.info('Looking after it', { name: ${variable}.metadata.name })`
  return `${licenseHeader(project)}import { ${reportsStatus ? 'condition, ' : ''}defineController } from 'kubewright'
${kindImport(family, file)}

export const ${controller.prefix}Controller = defineController(${kind}, {
${name}  // Called for every ${kind} that is new or changed, and again after every failure. Children that you name in
  // \`owns: [Deployment]\` and write with \`apply(Deployment({ ... }))\` are watched, and go when their ${kind} goes.
  async reconcile(${variable}, { log }) {
${body}
  },
})
`
}
