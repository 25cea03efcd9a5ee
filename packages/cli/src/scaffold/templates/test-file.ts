import { type FamilyController, familiesOf, type KindFamily } from '../kind-family.ts'
import { importPath, withArticle } from '../kind-names.ts'
import type { Project } from '../project.ts'
import { imageVariable } from './deploy-image-controller.ts'
import { kindImport } from './kind-import.ts'
import { licenseHeader } from './license-header.ts'

/** The test file of a kind and its first controller, or of a further controller. */
export function testText(project: Project, family: KindFamily, controller: FamilyController | undefined): string {
  const stem = controller?.stem ?? family.stem
  const file = `${stem}.test.ts`
  const operator = `import { operator } from '${importPath(file, 'src/operator.ts')}'`
  const kind = kindImport(family, file)
  const isMain = controller === family.controllers[0]
  const text =
    family.isForeign || !isMain
      ? startsText(family, controller, kind, operator)
      : family.image === undefined
        ? kindText(family, kind, operator, isSimulated(project, family))
        : imageText(family, kind, operator)
  return licenseHeader(project) + text
}

/** Whether the test file of a kind simulates the operator: that of the first kind with a controller does. */
function isSimulated(project: Project, family: KindFamily): boolean {
  const first = familiesOf(project).find(({ isForeign, controllers }) => !isForeign && controllers.length > 0)
  return first?.stem === family.stem
}

function kindText(
  { kind, variable, controllers }: KindFamily,
  kindLine: string,
  operatorLine: string,
  simulates: boolean,
): string {
  const isControlled = controllers.length > 0
  const [title, testing, wait] = isControlled
    ? [
        `${withArticle(kind)} becomes ready and can be deleted`,
        'isTrue, startTestEnv',
        `const ${variable} = await env.until(${kind}, 'sample', isTrue('Ready'))
  expect(${variable}.status?.conditions).toHaveLength(1)`,
      ]
    : [
        `${withArticle(kind)} is stored and can be deleted`,
        'startTestEnv',
        `const ${variable} = await env.client.get(${kind}, 'sample')
  expect(${variable}.spec).toEqual(spec)`,
      ]
  return `import type { Draft } from 'kubewright'
${simulates ? "import { simulate } from 'kubewright/simulate'\n" : ''}import { ${testing} } from 'kubewright/testing'
import { expect, test } from 'vitest'
${kindLine}
${operatorLine}

// The minimal spec of ${withArticle(kind)}.
const spec: Draft<typeof ${kind}>['spec'] = {}

test('${title}', async () => {
  await using env = await startTestEnv(operator)
  await env.client.create(${kind}({ metadata: { name: 'sample' }, spec }))
  ${wait}

  await env.client.delete(${kind}, 'sample')
  await env.gone(${kind}, 'sample')
})
${simulates ? simulationText(kind) : ''}`
}

function simulationText(kind: string): string {
  return `
// kubewright simulate runs more schedules, and prints what it has covered.
test('the operator recovers from crashes, lost requests and late watches', { timeout: 300_000 }, async () => {
  await simulate(operator, { samples: [${kind}({ metadata: { name: 'sample' }, spec })], schedules: 10 })
})
`
}

function startsText(
  { kind, isForeign }: KindFamily,
  controller: FamilyController | undefined,
  kindLine: string,
  operatorLine: string,
): string {
  if (isForeign || controller === undefined) {
    return `import { startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
${operatorLine}

test('the operator reconciles every ${kind} without errors', async () => {
  await using env = await startTestEnv(operator)
  await env.settled()
  expect(env.reconciles().filter(({ error }) => error !== undefined)).toEqual([])
})
`
  }
  return `import type { Draft } from 'kubewright'
import { startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
${kindLine}
${operatorLine}

// The minimal spec of ${withArticle(kind)}.
const spec: Draft<typeof ${kind}>['spec'] = {}

test('${controller.name} reconciles ${withArticle(kind)}', async () => {
  await using env = await startTestEnv(operator)
  await env.client.create(${kind}({ metadata: { name: 'sample' }, spec }))
  await env.settled()
  const own = env.reconciles().filter(({ controller }) => controller === '${controller.name}')
  expect(own).not.toHaveLength(0)
  expect(own.filter(({ error }) => error !== undefined)).toEqual([])
})
`
}

function imageText({ kind, variable }: KindFamily, kindLine: string, operatorLine: string): string {
  const environment = imageVariable(kind)
  return `import { Deployment, Pod } from 'kubewright/k8s'
import { isTrue, startTestEnv } from 'kubewright/testing'
import { afterEach, expect, test, vi } from 'vitest'
${kindLine}
${operatorLine}

const sample = (name: string, size: number) => ${kind}({ metadata: { name }, spec: { size } })
const podsOf = (name: string) => ({ labels: { 'app.kubernetes.io/instance': name } })

afterEach(() => {
  vi.unstubAllEnvs()
})

test('${withArticle(kind)} runs its instances, scales with its size, and deletes them with itself', async () => {
  await using env = await startTestEnv(operator)
  await env.client.create(sample('sample', 2))
  const ${variable} = await env.until(${kind}, 'sample', isTrue('Available'))
  expect(${variable}.status?.readyReplicas).toBe(2)

  await env.client.patch(${kind}, 'sample', { spec: { size: 1 } })
  await env.until(${kind}, 'sample', ({ status }) => status?.readyReplicas === 1)

  await env.client.delete(${kind}, 'sample')
  await Promise.all([env.gone(${kind}, 'sample'), env.gone(Deployment, 'sample')])
})

test('two objects in one namespace have separate instances, and a new image replaces the old one', async () => {
  await using env = await startTestEnv(operator)
  await Promise.all([env.client.create(sample('first', 1)), env.client.create(sample('second', 2))])
  await Promise.all(['first', 'second'].map((name) => env.until(${kind}, name, isTrue('Available'))))
  expect(await env.client.list(Pod, podsOf('first'))).toHaveLength(1)
  expect(await env.client.list(Pod, podsOf('second'))).toHaveLength(2)

  vi.stubEnv('${environment}', 'registry.example.com/another:2')
  await env.client.patch(${kind}, 'first', { metadata: { labels: { touched: 'yes' } } })
  const isNew = (deployment: Deployment) =>
    deployment.spec?.template.spec?.containers[0]?.image === 'registry.example.com/another:2'
  await env.until(Deployment, 'first', isNew)
})
`
}
