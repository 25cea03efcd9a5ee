import { guessPlural } from '@kubewright/api'
import type { KindFamily } from '../kind-family.ts'
import { groupOf, type Project } from '../project.ts'
import { licenseHeader } from './license-header.ts'

/** The definition of a kind in its first version. */
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
  ]
  return `${licenseHeader(project)}import { defineResource, type Infer, s } from 'kubewright'

/** ${kind}: say here what it is for. */
export const ${kind} = defineResource({
${names.join('\n')}
${family.image === undefined ? exampleSchema : imageSchema(family)}})
export type ${kind} = Infer<typeof ${kind}>
`
}

const exampleSchema = `  spec: s.object({
    // An example: put your own fields here.
    foo: s.string({ maxLength: 63 }).describe('An example of a field.').optional(),
  }),
  status: s.object({
    conditions: s.conditions('Ready'),
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
      .describe('The port at which each instance listens.')
      .default(${port}),`
  return `  spec: s.object({
    size: s.int({ minimum: 0 }).describe('How many instances run.').default(1),${portField}
  }),
  status: s.object({
    readyReplicas: s.int(),
    conditions: s.conditions('Available', 'Degraded'),
  }),
  columns: {
    Size: '.spec.size',
    Ready: '.status.readyReplicas',
    Available: '.status.conditions[?(@.type=="Available")].status',
    Age: '.metadata.creationTimestamp',
  },
`
}

/** Groups of the Kubernetes project itself are accepted only with a word about who approved them. */
function isProtected(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}
