import type { FamilyWebhook, KindFamily } from '../kind-family.ts'
import { importPath, withArticle } from '../kind-names.ts'
import type { Project } from '../project.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The file of the webhooks of one version of a kind. */
export function webhookText(project: Project, family: KindFamily, reviewing: FamilyWebhook): string {
  const { variable, isForeign } = family
  const { prefix, stem, webhooks, isFurther } = reviewing
  const exact = `  // Requests in other versions reach the webhooks of another version.
  matchPolicy: 'Exact',
`
  const paths = [
    ...(isFurther ? [exact] : []),
    ...(webhooks.defaultingPath === undefined ? [] : [`  defaultingPath: '${webhooks.defaultingPath}',\n`]),
    ...(webhooks.validationPath === undefined ? [] : [`  validationPath: '${webhooks.validationPath}',\n`]),
  ].join('')
  const label = `'app.kubernetes.io/managed-by': '${project.projectName}'`
  const defaulting = isForeign
    ? `  // Sets defaults by changing the object. Must be idempotent.
  default(${variable}) {
    ${variable}.metadata.labels ??= {}
  },
`
    : `  // Sets defaults by changing the object. Must be idempotent.
  default(${variable}) {
    ${variable}.metadata.labels = { ${label}, ...${variable}.metadata.labels }
  },
`
  const validation = isForeign
    ? `  // Returns the problems of the object, such as invalid('metadata.name', 'is too long'). An empty list admits it. The second
  // argument contains a client and, on an update, the object before it as \`old\`.
  validate() {
    return []
  },
`
    : `  // Returns the problems of the object. An empty list admits it. The second argument contains a client and, on an update,
  // the object before it as \`old\`.
  validate(${variable}) {
    return [
      ${variable}.metadata.name.length > 52 &&
        invalid('metadata.name', 'must be no more than 52 characters, to leave room for the names of children'),
    ]
  },
`
  const parts = [paths, webhooks.defaulting ? defaulting : '', webhooks.validation ? validation : '']
  const needsInvalid = webhooks.validation && !isForeign
  return `${licenseHeader(project)}import { defineWebhook${needsInvalid ? ', invalid' : ''} } from 'kubewright'
${kindImport(family, `${stem}.webhook.ts`)}

export const ${prefix}Webhook = defineWebhook(${reviewedKind(family, reviewing)}, {
${parts.filter((part) => part !== '').join('\n')}})
`
}

/** The expression of the kind in the version that webhooks receive. */
function reviewedKind({ kind, stored }: KindFamily, { version }: FamilyWebhook): string {
  return version === stored.version ? kind : `${kind}.versions.${version}`
}

/** The test file of the webhooks of one version of a kind that the project defines. */
export function webhookTestText(project: Project, family: KindFamily, reviewing: FamilyWebhook): string {
  const { kind, variable } = family
  const { stem, webhooks, isFurther } = reviewing
  const created = isFurther ? reviewedKind(family, reviewing) : kind
  const file = `${stem}.webhook.test.ts`
  const tests = [
    ...(webhooks.defaulting
      ? [
          `test('${withArticle(kind)} gets a default label', async () => {
  await using env = await startTestEnv(operator)
  const ${variable} = await env.client.create(${created}({ metadata: { name: 'sample' }, spec }))
  expect(${variable}.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': '${project.projectName}' })
})
`,
        ]
      : []),
    ...(webhooks.validation
      ? [
          `test('${withArticle(kind)} with a name that is too long is rejected', async () => {
  await using env = await startTestEnv(operator)
  const name = 'x'.repeat(53)
  await expect(env.client.create(${created}({ metadata: { name }, spec }))).rejects.toMatchObject({
    reason: 'Invalid',
    causes: [{ field: 'metadata.name', reason: 'FieldValueInvalid' }],
  })
})
`,
        ]
      : []),
  ]
  return `${licenseHeader(project)}import type { Draft } from 'kubewright'
import { startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
${kindImport(family, file)}
import { operator } from '${importPath(file, 'src/operator.ts')}'

// The minimal spec of ${withArticle(kind)}.
const spec: Draft<typeof ${created}>['spec'] = {}

${tests.join('\n')}`
}
