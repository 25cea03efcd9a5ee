import { kebab } from '../../text/kebab.ts'
import type { FamilyController, KindFamily } from '../kind-family.ts'
import type { DeployImageOptions, Project } from '../project.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The environment variable that overrides the image of a kind. */
export function imageVariable(kind: string): string {
  return `${kebab(kind).replaceAll('-', '_').toUpperCase()}_IMAGE`
}

/** The file of a controller that runs an image in a Deployment for every object of the kind. */
export function deployImageController(
  project: Project,
  family: KindFamily,
  controller: FamilyController,
  options: DeployImageOptions,
): string {
  const { kind, variable } = family
  const name = controller.name === undefined ? '' : `  name: '${controller.name}',\n`
  const command = options.containerCommand?.split(',').map((part) => quoted(part.trim()))
  const container = [
    `name: '${kebab(kind)}',`,
    'image: image(),',
    `imagePullPolicy: 'IfNotPresent',`,
    ...(command === undefined ? [] : [`command: [${command.join(', ')}],`]),
    ...(options.containerPort === undefined
      ? []
      : [`ports: [{ name: '${portName(kind)}', containerPort: ${variable}.spec.containerPort }],`]),
    `securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },`,
  ]
  const user = options.runAsUser === undefined ? '' : `, runAsUser: ${options.runAsUser}`
  return `${licenseHeader(project)}import { condition, defineController, findCondition } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
${kindImport(family, `${controller.stem}.controller.ts`)}

// The environment variable of the operator's container overrides the image of all instances.
const image = () => process.env['${imageVariable(kind)}'] ?? '${options.image}'

export const ${controller.prefix}Controller = defineController(${kind}, {
${name}  owns: [Deployment],

  async reconcile(${variable}, { apply }) {
    const { status } = await apply(deploymentFor(${variable}))
    const { size } = ${variable}.spec
    const ready = status?.readyReplicas ?? 0
    const isUp = ready >= size
    const failure = findCondition(status?.conditions, 'ReplicaFailure')
    return {
      status: {
        readyReplicas: ready,
        conditions: [
          condition('Available', isUp, isUp ? 'Running' : 'RollingOut', \`\${ready}/\${size} ready\`),
          condition('Degraded', failure?.status === 'True', failure?.reason ?? 'AsExpected', failure?.message ?? ''),
        ],
      },
    }
  },

  // The Deployment is deleted with its owner. Release resources outside the cluster here.
  cleanup(${variable}, { event }) {
    const { name, namespace } = ${variable}.metadata
    event('Warning', 'Deleting', \`Custom Resource \${name} is being deleted from the namespace \${namespace}\`)
  },
})

// The selector is immutable: it must distinguish instances by labels that never change.
const labels = (${variable}: ${kind}) => ({
  'app.kubernetes.io/name': '${kebab(kind)}',
  'app.kubernetes.io/instance': ${variable}.metadata.name,
})

const deploymentFor = (${variable}: ${kind}) =>
  Deployment({
    metadata: { name: ${variable}.metadata.name, labels: labels(${variable}) },
    spec: {
      replicas: ${variable}.spec.size,
      selector: { matchLabels: labels(${variable}) },
      template: {
        metadata: { labels: labels(${variable}) },
        spec: {
          // Add runAsUser for an image whose user is root.
          securityContext: { runAsNonRoot: true${user}, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
${container.map((line) => `              ${line}`).join('\n')}
            },
          ],
        },
      },
    },
  })
`
}

/** The name of the container port, which may have 15 characters at most. */
function portName(kind: string): string {
  return kebab(kind).slice(0, 15).replace(/-$/, '')
}

function quoted(text: string): string {
  // JSON has the same escapes as TypeScript; only the quotes differ.
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
