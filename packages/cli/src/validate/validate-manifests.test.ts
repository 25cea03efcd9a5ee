import { systemClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { documentsOf, type ManifestDocument } from '../input/read-manifests.ts'
import { type ManifestVerdict, type ValidateManifestsOptions, validateManifests } from './validate-manifests.ts'

const crd = (minLength = 1): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: homes.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Home, plural: homes }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [image]
            properties:
              image: { type: string, minLength: ${minLength} }
              replicas: { type: integer, minimum: 1, default: 1 }
              domain: { type: string }
            x-kubernetes-validations:
            - { rule: "!has(oldSelf.domain) || self.domain == oldSelf.domain", message: domain is immutable, fieldPath: .domain }
            - { rule: "self.replicas < 5 || self.image != 'slow'", message: too slow }
`
const home = (spec: string, name = 'a'): string =>
  `apiVersion: example.com/v1\nkind: Home\nmetadata: { name: ${name}, namespace: team }\nspec: ${spec}\n`

const read = (...texts: string[]): ManifestDocument[] =>
  texts.flatMap((text, index) => documentsOf(text, `${index}.yaml`))
const validate = (texts: string[], options: Partial<ValidateManifestsOptions> = {}): Promise<ManifestVerdict[]> =>
  validateManifests(read(...texts), { clock: systemClock, ...options })
const problems = (verdicts: readonly ManifestVerdict[]): unknown =>
  verdicts.flatMap((verdict) =>
    verdict.problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)),
  )

describe('validateManifests()', () => {
  test('accepts valid objects and lists the defaults', async () => {
    // The CRD comes last, but applies to all manifests.
    const verdicts = await validate([home('{ image: nginx }'), crd()])
    expect(verdicts.map(({ valid, kind, namespace, name }) => [valid, kind, namespace, name])).toEqual([
      [true, 'Home', 'team', 'a'],
      [true, 'CustomResourceDefinition', undefined, 'homes.example.com'],
    ])
    expect(verdicts[0]?.filled).toEqual([{ path: 'spec.replicas', value: 1 }])
  })

  test('accepts JSON, and YAML that starts with a brace', async () => {
    const verdicts = await validate([
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}',
      '{ apiVersion: v1, kind: ConfigMap, metadata: { name: b } }',
    ])
    expect(verdicts.map(({ valid }) => valid)).toEqual([false, true])
    expect(problems(verdicts)).toEqual([expect.stringContaining('duplicate field "data.a"')])
  })

  test('preserves integers beyond 2^53', async () => {
    const wide = crd().replace("self.replicas < 5 || self.image != 'slow'", 'self.replicas < 9007199254740995')
    const item = (replicas: string): string =>
      `{ apiVersion: example.com/v1, kind: Home, metadata: { name: a }, spec: { image: x, replicas: ${replicas} } }`
    // Items of a list are encoded again before they are sent.
    const list = `{ apiVersion: v1, kind: List, items: [${item('9007199254740993')}, ${item('9007199254740995')}] }`
    const verdicts = await validate([wide.replace('minimum: 1,', 'minimum: 1, maximum: 99007199254740993,'), list])
    expect(verdicts.map(({ valid, filled }) => [valid, filled])).toEqual([
      [true, expect.anything()],
      [true, []],
      [false, []],
    ])
  })

  test('reports the messages of the server for schemas, rules, unknown and repeated fields', async () => {
    const verdicts = await validate(
      [
        home('{ replicas: 0 }'),
        home('{ image: slow, replicas: 7 }'),
        home('{ image: x, imagee: z }', 'b'),
        'apiVersion: example.com/v1\nkind: Home\nmetadata: { name: c }\nspec:\n  image: x\n  image: z\n',
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\nspec: { replicas: x }\n',
      ],
      { present: read(crd()) },
    )
    expect(verdicts.every(({ valid }) => !valid)).toBe(true)
    expect(verdicts[1]?.message).toBe('Home.example.com "a" is invalid: spec: Invalid value: too slow')
    expect(problems(verdicts)).toEqual([
      'spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1',
      'spec.image: Required value',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      'spec: Invalid value: too slow',
      'Home in version "v1" cannot be handled as a Home: strict decoding error: unknown field "spec.imagee"',
      expect.stringContaining('key "image" already set in map'),
      expect.stringContaining(
        'cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
      ),
    ])
  })

  test('reports other problems beside unknown fields', async () => {
    expect(problems(await validate([home('{ imagee: z }')], { present: read(crd()) }))).toEqual([
      'Home in version "v1" cannot be handled as a Home: strict decoding error: unknown field "spec.imagee"',
      'spec.image: Required value',
      expect.stringContaining('some validation rules were not checked'),
    ])
  })

  test('warns about unknown fields or ignores them on request', async () => {
    const options = { present: read(crd()) }
    const [warned] = await validate([home('{ image: x, imagee: z }')], { ...options, fieldValidation: 'Warn' })
    expect(warned).toMatchObject({ valid: true, warnings: ['unknown field "spec.imagee"'] })
    const [ignored] = await validate([home('{ image: x, imagee: z }')], { ...options, fieldValidation: 'Ignore' })
    expect(ignored).toMatchObject({ valid: true, warnings: [] })
  })

  test('applies transition rules to an old state', async () => {
    const options = { present: read(crd()), old: read(home('{ image: x, domain: a.b }')) }
    const verdicts = await validate([home('{ image: x, domain: c.d }')], options)
    expect(verdicts[0]).toMatchObject({ valid: false, updated: true })
    expect(problems(verdicts)).toEqual(['spec.domain: Invalid value: domain is immutable'])
    expect((await validate([home('{ image: z, domain: a.b }')], options))[0]).toMatchObject({
      valid: true,
      updated: true,
    })
  })

  test('ratchets: accepts unchanged values that an old CRD allowed', async () => {
    const options = { present: read(crd(7)), oldPresent: read(crd(1)), old: read(home('{ image: x }')) }
    expect((await validate([home('{ image: x, replicas: 2 }')], options))[0]).toMatchObject({
      valid: true,
      updated: true,
    })
    expect(problems(await validate([home('{ image: z }')], options))).toEqual([
      'spec.image: Invalid value: "z": spec.image in body should be at least 7 chars long',
    ])
  })

  test('reports repeated keys in updates', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  x: "1"\n  x: "2"\n'
    const old = read('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n')
    expect(problems(await validate([text], { old }))).toEqual([expect.stringContaining('key "x" already set in map')])
  })

  test('creates namespaces and service accounts that objects name', async () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: { name: p, namespace: far }\nspec: { serviceAccountName: me, containers: [{ name: c, image: i }] }\n'
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: far, labels: { a: b } }\n'
    const verdicts = await validate([pod, namespace], { namespace: 'near' })
    expect(verdicts.map(({ valid, updated }) => [valid, updated])).toEqual([
      [true, false],
      [true, false],
    ])
  })

  test('enforces labels of existing namespaces', async () => {
    const namespace =
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: team, labels: { pod-security.kubernetes.io/enforce: restricted } }\n'
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: { name: p, namespace: team }\nspec: { containers: [{ name: c, image: i }] }\n'
    expect(problems(await validate([pod], { present: read(namespace) }))).toEqual([
      expect.stringContaining('violates PodSecurity "restricted:latest"'),
    ])
  })

  test('splits lists, and reports documents that are invalid or not objects', async () => {
    const list =
      'apiVersion: v1\nkind: List\nitems:\n- { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }\n- { apiVersion: v1, kind: ConfigMap, metadata: { name: B } }\n'
    const verdicts = await validate([
      list,
      'a: [',
      '- 1',
      '{ kind: Home }',
      '{ apiVersion: v1 }',
      'apiVersion: x.dev/v1\nkind: X',
      'apiVersion: v1\nkind: X',
    ])
    expect(verdicts.map(({ valid }) => valid)).toEqual([true, false, false, false, false, false, false, false])
    expect(problems(verdicts.slice(3))).toEqual([
      'the document is not an object',
      'apiVersion not set',
      'kind not set',
      'no matches for kind "X" in version "x.dev/v1": give its CRD with --crd',
      'no matches for kind "X" in version "v1"',
    ])
  })

  test('validates CRDs, and fails if a CRD of --crd is invalid', async () => {
    const bad = crd().replace('type: integer', 'type: float')
    expect(problems(await validate([bad]))).toContainEqual(expect.stringContaining('Unsupported value: "float"'))
    await expect(validate([home('{ image: x }')], { present: read(bad) })).rejects.toThrow(
      '0.yaml:2 is needed for the validation but is rejected: CustomResourceDefinition.apiextensions.k8s.io "homes.example.com" is invalid',
    )
  })
})
