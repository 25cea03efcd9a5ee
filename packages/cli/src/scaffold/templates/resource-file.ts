import { guessPlural } from '@kubewright/api'
import type { KindFamily } from '../kind-family.ts'
import { groupOf, type Project } from '../project.ts'
import { licenseHeader } from './license-header.ts'

/** The file that defines a kind, in its first version. */
export function resourceText(project: Project, family: KindFamily): string {
  const { kind } = family
  const [{ version, plural, api }] = family.versions as [KindFamily['stored']]
  const group = groupOf(family.stored)
  const names = [
    `  group: '${group}',`,
    `  version: '${version}',`,
    `  kind: '${kind}',`,
    ...(api?.namespaced === false ? [`  scope: 'Cluster',`] : []),
    ...(plural !== undefined && plural !== guessPlural(kind) ? [`  plural: '${plural}',`] : []),
    ...(isProtected(group)
      ? [`  metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental-only' } },`]
      : []),
    // Descriptions reach the CRD and kubectl explain; comments would reach editors only.
    `  description: 'TODO: describe ${kind}.',`,
  ]
  return `${licenseHeader(project)}import { defineResource, type Infer, s } from 'kubewright'

export const ${kind} = defineResource({
${names.join('\n')}
${family.image === undefined ? exampleSchema : imageSchema(family)}})
export type ${kind} = Infer<typeof ${kind}>
`
}

const exampleSchema = `  spec: s.object({
    // Replace this example by your own fields.
    foo: s.string({ maxLength: 63 }).describe('An example field.').optional(),
  }),
  status: s.object({
    conditions: s.conditions('Ready').describe('Whether the object is ready.'),
  }),
  columns: {
    Ready: '.status.conditions[?(@.type=="Ready")].status',
    Age: '.metadata.creationTimestamp',
  },
`

function imageSchema({ image }: KindFamily): string {
  const port = image?.containerPort
  const portField =
    port === undefined
      ? ''
      : `
    containerPort: s
      .int({ minimum: 1, maximum: 65535 })
      .describe('The port that each instance listens on.')
      .default(${port}),`
  return `  spec: s.object({
    size: s.int({ minimum: 0 }).describe('The number of instances.').default(1),${portField}
  }),
  status: s.object({
    readyReplicas: s.int().describe('The number of instances that are ready.'),
    conditions: s.conditions('Available', 'Degraded').describe('Whether the instances work.'),
  }),
  columns: {
    Size: '.spec.size',
    Ready: '.status.readyReplicas',
    Available: '.status.conditions[?(@.type=="Available")].status',
    Age: '.metadata.creationTimestamp',
  },
`
}

/** Whether a group belongs to the Kubernetes project. API servers accept its CRDs only with an approval annotation. */
function isProtected(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}
