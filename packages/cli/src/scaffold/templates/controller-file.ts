import type { FamilyController, KindFamily } from '../kind-family.ts'
import type { Project } from '../project.ts'
import { deployImageController } from './deploy-image-controller.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The file of a controller. */
export function controllerText(project: Project, family: KindFamily, controller: FamilyController): string {
  const isMain = controller === family.controllers[0]
  if (isMain && family.image !== undefined) return deployImageController(project, family, controller, family.image)
  const file = `${controller.stem}.controller.ts`
  const { kind, variable } = family
  const reportsStatus = isMain && !family.isForeign
  const name = controller.name === undefined ? '' : `  name: '${controller.name}',\n\n`
  const body = reportsStatus
    ? `    log.info('Reconciling', { generation: ${variable}.metadata.generation })
    return { status: { conditions: [condition('Ready', true, 'Reconciled')] } }`
    : `    log.info('Reconciling', { name: ${variable}.metadata.name })`
  return `${licenseHeader(project)}import { ${reportsStatus ? 'condition, ' : ''}defineController } from 'kubewright'
${kindImport(family, file)}

export const ${controller.prefix}Controller = defineController(${kind}, {
${name}  // Called for every new or changed ${kind}, and retried after a failure. The controller watches the kinds in
  // \`owns: [Deployment]\`. Objects that you write with \`apply(Deployment({ ... }))\` are deleted with their ${kind}.
  async reconcile(${variable}, { log }) {
${body}
  },
})
`
}
