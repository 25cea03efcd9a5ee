import type { KindFamily } from '../kind-family.ts'
import { importPath, withArticle } from '../kind-names.ts'
import type { Project } from '../project.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The webhooks of a kind. */
export function webhookText(project: Project, family: KindFamily): string {
  const { kind, prefix, variable, isForeign, stored, webhookVersion, webhooks = { webhookVersion: 'v1' } } = family
  const reviewed = webhookVersion === stored.version ? kind : `${kind}.versions.${webhookVersion}`
  const paths = [
    ...(webhooks.defaultingPath === undefined ? [] : [`  defaultingPath: '${webhooks.defaultingPath}',\n`]),
    ...(webhooks.validationPath === undefined ? [] : [`  validationPath: '${webhooks.validationPath}',\n`]),
  ].join('')
  const label = `'app.kubernetes.io/managed-by': '${project.projectName}'`
  const defaulting = isForeign
    ? `  // Fills what was left out, by changing the object. Must give the same when it is called twice.
  default(${variable}) {
    ${variable}.metadata.labels ??= {}
  },
`
    : `  // Fills what was left out, by changing the object. Must give the same when it is called twice.
  default(${variable}) {
    ${variable}.metadata.labels = { ${label}, ...${variable}.metadata.labels }
  },
`
  const validation = isForeign
    ? `  // Says what is wrong, such as invalid('metadata.name', 'is too long'); an empty list admits. The second argument has the
  // object before an update as \`old\`, and a client.
  validate() {
    return []
  },
`
    : `  // Says what is wrong; an empty list admits. The second argument has the object before an update as \`old\`, and a client.
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
${kindImport(family, `${family.stem}.webhook.ts`)}

export const ${prefix}Webhook = defineWebhook(${reviewed}, {
${parts.filter((part) => part !== '').join('\n')}})
`
}

/** Tests of the webhooks of a kind that the project defines. */
export function webhookTestText(project: Project, family: KindFamily): string {
  const { kind, variable, stem, webhooks } = family
  const file = `${stem}.webhook.test.ts`
  const tests = [
    ...(webhooks?.defaulting
      ? [
          `test('${withArticle(kind)} is labelled', async () => {
  await using env = await startTestEnv(operator)
  const ${variable} = await env.client.create(${kind}({ metadata: { name: 'sample' }, spec }))
  expect(${variable}.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': '${project.projectName}' })
})
`,
        ]
      : []),
    ...(webhooks?.validation
      ? [
          `test('${withArticle(kind)} whose name leaves no room for children is refused', async () => {
  await using env = await startTestEnv(operator)
  const name = 'x'.repeat(53)
  await expect(env.client.create(${kind}({ metadata: { name }, spec }))).rejects.toMatchObject({
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

// What ${withArticle(kind)} needs at least.
const spec: Draft<typeof ${kind}>['spec'] = {}

${tests.join('\n')}`
}
