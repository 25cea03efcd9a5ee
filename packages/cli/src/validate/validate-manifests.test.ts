import { systemClock } from '@kubewright/base'
import { describe, expect, it } from 'vitest'
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
const judge = (texts: string[], options: Partial<ValidateManifestsOptions> = {}): Promise<ManifestVerdict[]> =>
  validateManifests(read(...texts), { clock: systemClock, ...options })
const problems = (verdicts: readonly ManifestVerdict[]): unknown =>
  verdicts.flatMap((verdict) =>
    verdict.problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)),
  )

describe('validateManifests()', () => {
  it('accepts what a server accepts, and tells what it fills in', async () => {
    // The definition comes last, and counts all the same.
    const verdicts = await judge([home('{ image: nginx }'), crd()])
    expect(verdicts.map(({ valid, kind, namespace, name }) => [valid, kind, namespace, name])).toEqual([
      [true, 'Home', 'team', 'a'],
      [true, 'CustomResourceDefinition', undefined, 'homes.example.com'],
    ])
    expect(verdicts[0]?.filled).toEqual([{ path: 'spec.replicas', value: 1 }])
  })

  it('takes JSON, and YAML that looks like it', async () => {
    const verdicts = await judge([
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}',
      '{ apiVersion: v1, kind: ConfigMap, metadata: { name: b } }',
    ])
    expect(verdicts.map(({ valid }) => valid)).toEqual([false, true])
    expect(problems(verdicts)).toEqual([expect.stringContaining('duplicate field "data.a"')])
  })

  it('takes whole numbers beyond 2^53 as they are', async () => {
    const wide = crd().replace("self.replicas < 5 || self.image != 'slow'", 'self.replicas < 9007199254740995')
    const item = (replicas: string): string =>
      `{ apiVersion: example.com/v1, kind: Home, metadata: { name: a }, spec: { image: x, replicas: ${replicas} } }`
    // Items of a list are sent one by one, and not as they were written.
    const list = `{ apiVersion: v1, kind: List, items: [${item('9007199254740993')}, ${item('9007199254740995')}] }`
    const verdicts = await judge([wide.replace('minimum: 1,', 'minimum: 1, maximum: 99007199254740993,'), list])
    expect(verdicts.map(({ valid, filled }) => [valid, filled])).toEqual([
      [true, expect.anything()],
      [true, []],
      [false, []],
    ])
  })

  it('refuses in the words of the server: schemas, rules, unknown and repeated fields', async () => {
    const verdicts = await judge(
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

  it('tells the other mistakes beside unknown fields', async () => {
    expect(problems(await judge([home('{ imagee: z }')], { present: read(crd()) }))).toEqual([
      'Home in version "v1" cannot be handled as a Home: strict decoding error: unknown field "spec.imagee"',
      'spec.image: Required value',
      expect.stringContaining('some validation rules were not checked'),
    ])
  })

  it('warns of unknown fields or ignores them when asked to', async () => {
    const options = { present: read(crd()) }
    const [warned] = await judge([home('{ image: x, imagee: z }')], { ...options, fieldValidation: 'Warn' })
    expect(warned).toMatchObject({ valid: true, warnings: ['unknown field "spec.imagee"'] })
    const [ignored] = await judge([home('{ image: x, imagee: z }')], { ...options, fieldValidation: 'Ignore' })
    expect(ignored).toMatchObject({ valid: true, warnings: [] })
  })

  it('compares with an old state: transition rules', async () => {
    const options = { present: read(crd()), old: read(home('{ image: x, domain: a.b }')) }
    const verdicts = await judge([home('{ image: x, domain: c.d }')], options)
    expect(verdicts[0]).toMatchObject({ valid: false, updated: true })
    expect(problems(verdicts)).toEqual(['spec.domain: Invalid value: domain is immutable'])
    expect((await judge([home('{ image: z, domain: a.b }')], options))[0]).toMatchObject({ valid: true, updated: true })
  })

  it('lets mistakes be that an old definition allowed, as long as they are not touched', async () => {
    const options = { present: read(crd(7)), oldPresent: read(crd(1)), old: read(home('{ image: x }')) }
    expect((await judge([home('{ image: x, replicas: 2 }')], options))[0]).toMatchObject({ valid: true, updated: true })
    expect(problems(await judge([home('{ image: z }')], options))).toEqual([
      'spec.image: Invalid value: "z": spec.image in body should be at least 7 chars long',
    ])
  })

  it('finds repeated keys in updates too', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  x: "1"\n  x: "2"\n'
    const old = read('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n')
    expect(problems(await judge([text], { old }))).toEqual([expect.stringContaining('key "x" already set in map')])
  })

  it('makes namespaces and service accounts as they are named', async () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: { name: p, namespace: far }\nspec: { serviceAccountName: me, containers: [{ name: c, image: i }] }\n'
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: far, labels: { a: b } }\n'
    const verdicts = await judge([pod, namespace], { namespace: 'near' })
    expect(verdicts.map(({ valid, updated }) => [valid, updated])).toEqual([
      [true, false],
      [true, false],
    ])
  })

  it('has policies and labels of namespaces in force that are there before', async () => {
    const namespace =
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: team, labels: { pod-security.kubernetes.io/enforce: restricted } }\n'
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: { name: p, namespace: team }\nspec: { containers: [{ name: c, image: i }] }\n'
    expect(problems(await judge([pod], { present: read(namespace) }))).toEqual([
      expect.stringContaining('violates PodSecurity "restricted:latest"'),
    ])
  })

  it('takes lists apart, and says what cannot be read or is no object', async () => {
    const list =
      'apiVersion: v1\nkind: List\nitems:\n- { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }\n- { apiVersion: v1, kind: ConfigMap, metadata: { name: B } }\n'
    const verdicts = await judge([
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
      'the document is no object',
      'apiVersion not set',
      'kind not set',
      'no matches for kind "X" in version "x.dev/v1": give its definition with --crd',
      'no matches for kind "X" in version "v1"',
    ])
  })

  it('judges definitions, and refuses to rely on bad ones', async () => {
    const bad = crd().replace('type: integer', 'type: float')
    expect(problems(await judge([bad]))).toContainEqual(expect.stringContaining('Unsupported value: "float"'))
    await expect(judge([home('{ image: x }')], { present: read(bad) })).rejects.toThrow(
      '0.yaml:2 cannot be taken as given: CustomResourceDefinition.apiextensions.k8s.io "homes.example.com" is invalid',
    )
  })
})
