// Custom resources with the real kubectl: a CRD with types only (Fruit), a CRD with the features of a small
// operator (Sample), and a kind with two versions and a conversion webhook.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'
import { ConversionHook } from './conversion-hook.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from './kubectl.ts'

const missing = kubectlMissing() ?? kubectlTooOld()
let folder: TemporaryFolder
let up: UpProcess
let kubectl: Kubectl

beforeAll(async () => {
  if (missing !== undefined) return
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory'], folder.path)
  kubectl = new Kubectl(up.kubeconfig, folder.path)
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing)
})

/** Defines a kind and waits until it is served. */
async function define(definition: string): Promise<void> {
  const created = await kubectl.run(['apply', '-f', '-'], definition)
  const name = /customresourcedefinition\.apiextensions\.k8s\.io\/(\S+)/.exec(created)![1]!
  await kubectl.run(['wait', `crd/${name}`, '--for=condition=Established', '--timeout=10s'])
}

const version = (name: string, schema: string, more = ''): string => `
  - name: ${name}
    served: true
    storage: true
${more}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
${schema}`

const fruits = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: fruits.user.k8sasdb.org }
spec:
  conversion: { strategy: None }
  group: user.k8sasdb.org
  scope: Namespaced
  names: { kind: Fruit, listKind: FruitList, plural: fruits, singular: fruit }
  versions:${version(
    'v1',
    `            properties:
              comment: { type: string }
              sweetness: { type: boolean }
              weight: { type: integer }`,
    '    subresources: { status: {} }',
  )}
`
const apple = (weight: string, more = ''): string => `
apiVersion: user.k8sasdb.org/v1
kind: Fruit
metadata: { name: apple }
spec: { sweetness: false, weight: ${weight}, comment: little bit rotten${more} }
`

describe('Fruit', () => {
  beforeAll(async () => {
    if (missing === undefined) await define(fruits)
  })

  test('is established under its names', async () => {
    const status = JSON.parse(
      await kubectl.run(['get', 'crd', 'fruits.user.k8sasdb.org', '-o', 'jsonpath={.status}']),
    ) as {
      conditions: { type: string; status: string }[]
      acceptedNames: unknown
      storedVersions: string[]
    }
    expect(status.conditions.map(({ type, status: is }) => `${type}=${is}`)).toEqual([
      'NamesAccepted=True',
      'Established=True',
    ])
    expect(status.acceptedNames).toEqual({ kind: 'Fruit', listKind: 'FruitList', plural: 'fruits', singular: 'fruit' })
    expect(status.storedVersions).toEqual(['v1'])
    expect(await kubectl.run(['get', 'crd', '-o', 'wide'])).toMatch(/^fruits\.user\.k8sasdb\.org +\d{4}-/m)
  })

  test('accepts an apple and rejects weights that are not integers', async () => {
    expect(await kubectl.run(['apply', '-f', '-'], apple('100'))).toBe('fruit.user.k8sasdb.org/apple created\n')
    expect(await kubectl.run(['get', 'fruits'])).toMatch(/^NAME +AGE\napple +\d+s\n$/)
    expect(await kubectl.run(['get', 'fruit', 'apple', '-o', 'jsonpath={.metadata.generation}'])).toBe('1')
    const refused = async (weight: string): Promise<string> => {
      const { code, error } = await kubectl.try(['apply', '--validate=false', '-f', '-'], apple(weight))
      expect(code).toBe(1)
      return error
    }
    expect(await refused('"100"')).toContain(
      'spec.weight: Invalid value: "string": spec.weight in body must be of type integer: "string"',
    )
    expect(await refused('100.5')).toContain(
      'spec.weight: Invalid value: "number": spec.weight in body must be of type integer: "number"',
    )
  })

  test('rejects unknown fields and explains known ones', async () => {
    const strict = await kubectl.try(['create', '--dry-run=server', '-f', '-'], apple('100', ', color: red'))
    expect(strict.error).toContain('strict decoding error: unknown field "spec.color"')
    const warned = await kubectl.try(['apply', '--validate=warn', '-f', '-'], apple('100', ', color: red'))
    expect(warned).toMatchObject({ code: 0, error: expect.stringContaining('Warning: unknown field "spec.color"') })
    expect(await kubectl.run(['get', 'fruit', 'apple', '-o', 'jsonpath={.spec.color}'])).toBe('')
    const explained = await kubectl.run(['explain', 'fruit.spec'])
    for (const field of ['comment\t<string>', 'sweetness\t<boolean>', 'weight\t<integer>'])
      expect(explained).toContain(field)
    const status = ['patch', 'fruit', 'apple', '--subresource=status', '--type=merge', '-p', '{"status":{"ripe":true}}']
    expect(await kubectl.try(status)).toMatchObject({
      code: 0,
      out: expect.stringContaining('(no change)'),
      error: expect.stringContaining('Warning: unknown field "status"'),
    })
  })

  test('is deleted with its CRD', async () => {
    await kubectl.run(['delete', 'crd', 'fruits.user.k8sasdb.org'])
    expect((await kubectl.try(['get', 'fruits.user.k8sasdb.org'])).error).toMatch(
      /the server (doesn't have a resource type|could not find)/,
    )
  })
})

const samples = (schema: string, more = ''): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: samples.stable.example.com }
spec:
  group: stable.example.com
  scope: Namespaced
  names: { kind: Sample, plural: samples, singular: sample, shortNames: [sp] }
  versions:${version('v1alpha', schema, more)}
          status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`
const sample = (spec: string): string =>
  `apiVersion: stable.example.com/v1alpha\nkind: Sample\nmetadata: { name: one }\nspec: ${spec}\n`

describe('Sample', () => {
  test('is validated, defaulted and printed in columns, and has status and scale subresources', async () => {
    await define(
      samples(
        `            required: [message]
            properties:
              image: { type: string, default: 'nginx:latest' }
              message: { type: string }
              replicas: { type: integer }`,
        `    subresources:
      status: {}
      scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.labelSelector }
    additionalPrinterColumns:
    - { name: message, type: string, jsonPath: .spec.message }
    - { name: AGE, type: date, jsonPath: .metadata.creationTimestamp }`,
      ),
    )
    const bad = await kubectl.try(['apply', '--validate=false', '-f', '-'], sample('{ image: 100 }'))
    expect(bad.error).toContain('spec.image in body must be of type string: "integer"')
    expect(bad.error).toContain('spec.message: Required value')

    await kubectl.run(['apply', '-f', '-'], sample('{ message: hello }'))
    expect(await kubectl.run(['get', 'sp', 'one', '-o', 'jsonpath={.spec.image}'])).toBe('nginx:latest')
    expect(await kubectl.run(['get', 'sp'])).toMatch(/^NAME +MESSAGE +AGE\none +hello +\d+s\n$/)

    await kubectl.run([
      'patch',
      'sample',
      'one',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Ready"}}',
    ])
    expect(await kubectl.run(['get', 'sample', 'one', '-o', 'jsonpath={.status.phase} {.metadata.generation}'])).toBe(
      'Ready 1',
    )

    await kubectl.run(['scale', 'sample', 'one', '--replicas=3'])
    expect(await kubectl.run(['get', 'sample', 'one', '-o', 'jsonpath={.spec.replicas}'])).toBe('3')
    const path = '/apis/stable.example.com/v1alpha/namespaces/default/samples/one/scale'
    const scale = JSON.parse(await kubectl.run(['get', '--raw', path])) as Record<string, unknown>
    expect(scale).toMatchObject({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      spec: { replicas: 3 },
      status: { replicas: 0 },
    })
    expect(await kubectl.run(['autoscale', 'sample/one', '--min=1', '--max=5'])).toContain('autoscaled')
  })
})

describe('a kind with two versions', () => {
  test('is served in either version through a conversion webhook', async () => {
    await using hook = await ConversionHook.start((object, apiVersion) => {
      const spec = object.spec as { image?: string; container?: string }
      const image = spec.image ?? spec.container ?? ''
      return { ...object, apiVersion, spec: apiVersion.endsWith('/v1') ? { image } : { container: image } }
    })
    await define(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.org }
spec:
  group: example.org
  scope: Namespaced
  names: { kind: Shop, plural: shops, singular: shop }
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: { url: '${hook.url}', caBundle: ${hook.caBundle} }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { image: { type: string } } } } } }
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { container: { type: string } } } } } }
`)
    const old = 'apiVersion: example.org/v1beta1\nkind: Shop\nmetadata: { name: corner }\nspec: { container: nginx }\n'
    const created = await kubectl.try(['create', '-f', '-'], old)
    expect(created).toMatchObject({ code: 0, error: expect.stringContaining('example.org/v1beta1 Shop is deprecated') })
    expect(await kubectl.run(['get', 'shops.v1.example.org', 'corner', '-o', 'jsonpath={.spec}'])).toBe(
      '{"image":"nginx"}',
    )
    expect(await kubectl.run(['get', 'shops.v1beta1.example.org', 'corner', '-o', 'jsonpath={.spec}'])).toBe(
      '{"container":"nginx"}',
    )
    expect(hook.reviews).toBeGreaterThan(0)
  })
})
