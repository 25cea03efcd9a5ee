// Scenarios about CEL expressions and admission policies.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateText } from '../mutate.ts'
import { crdOf, schemaOf } from './custom-scenarios.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }

const expressions: readonly string[] = [
  'object.metadata.name != "x"',
  'has(object.data) && object.data.all(k, k.startsWith("a"))',
  'object.data["k"] == "v"',
  '!has(object.data) || size(object.data) < 2',
  'request.userInfo.groups.exists(g, g == "system:masters")',
  'namespaceObject.metadata.name.startsWith("diff")',
  'oldObject == null || object.data == oldObject.data',
  'int(object.data.n) + 1 > 0',
  'quantity(object.data.q).isGreaterThan(quantity("1Gi"))',
  'object.metadata.?labels.?a.orValue("b") == "b"',
  'variables.x == 1',
  'authorizer.group("").resource("pods").check("get").allowed()',
  'object.data.map(k, object.data[k]).join(",").matches("^a+$")',
  'timestamp(object.data.t) < timestamp("2030-01-01T00:00:00Z")',
  'params.data.limit == "1"',
  '[1, 2].sum() == 3 && duration("1h") > duration("1m")',
]
const words: readonly string[] = [
  'object',
  '.',
  '(',
  ')',
  ' && ',
  '!',
  '"',
  'has(',
  '[0]',
  '{',
  '}',
  ' ? ',
  ' : ',
  'size(',
  '1',
  '1.5',
  'null',
  'x',
  '==',
  ' in ',
  "'",
]

function expression(random: Random): string {
  const text = random.pick(expressions)
  return chance(random, 0.5) ? mutateText(random, text, words).replace(/[^\x20-\x7e\n]/g, '_') : text
}

function policyOf(random: Random, name: string): Json {
  return {
    metadata: { name },
    spec: {
      ...(chance(random, 0.2) ? { failurePolicy: random.pick(['Ignore', 'Fail', 'x']) } : {}),
      ...(chance(random, 0.2) ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['configmaps'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
          },
        ],
      },
      ...(chance(random, 0.3)
        ? { variables: [{ name: 'x', expression: chance(random, 0.5) ? '1' : expression(random) }] }
        : {}),
      ...(chance(random, 0.2) ? { matchConditions: [{ name: 'm', expression: expression(random) }] } : {}),
      validations: [
        {
          expression: expression(random),
          ...(chance(random, 0.3) ? { message: random.pick(['no', '', 'a\nb']) } : {}),
          ...(chance(random, 0.3)
            ? { messageExpression: random.pick(['"no " + object.metadata.name', '1', 'object.x']) }
            : {}),
          ...(chance(random, 0.2) ? { reason: random.pick(['Forbidden', 'Invalid', 'x']) } : {}),
        },
      ],
      ...(chance(random, 0.2) ? { auditAnnotations: [{ key: 'k', valueExpression: expression(random) }] } : {}),
    },
  }
}

/** Policies and schemas with expressions that may not compile. Nothing is stored. */
export function celScenario(random: Random, id: string): Scenario {
  const requests = Array.from({ length: 4 }, (): RequestSpec => {
    if (chance(random, 0.5)) {
      const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All'
      return { method: 'POST', path, body: policyOf(random, `o-${id}`) }
    }
    const rule = expression(random).replaceAll('object', 'self')
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
    return { method: 'POST', path, body: crdOf(id, schemaOf(random, 2, rule)) }
  })
  return { kind: 'CEL', namespace: `diff-${id}`, requests }
}

/** A policy for the ConfigMaps of the namespace, and writes that it may deny. */
export function policyScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const name = `o-${id}`
  const root = '/apis/admissionregistration.k8s.io/v1'
  const collection = `/api/v1/namespaces/${namespace}/configmaps`
  const policy = policyOf(random, name) as { spec: { validations: Json[]; failurePolicy?: string } }
  // The second validation shows when the policy is active.
  policy.spec.validations.push({ expression: 'object == null || object.metadata.name != "probe"', message: 'probe' })
  if (policy.spec.failurePolicy === 'x') policy.spec.failurePolicy = 'Fail'
  const binding = {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: random.pick([['Deny'], ['Deny'], ['Warn'], ['Audit', 'Warn']]),
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    },
  }
  const map = (): Json => ({
    metadata: {
      name: random.pick(['x', 'o']),
      ...(chance(random, 0.5) ? { labels: { a: random.pick(['b', 'c']) } } : {}),
    },
    ...(chance(random, 0.8)
      ? {
          data: {
            [random.pick(['k', 'n', 'q', 't', 'a'])]: random.pick(['v', '1', '2Gi', '2020-01-01T00:00:00Z', 'aaa']),
          },
        }
      : {}),
  })
  const requests = Array.from({ length: 5 }, (): RequestSpec => {
    const path = `${collection}/${random.pick(['x', 'o'])}`
    switch (random.int(5)) {
      case 0:
        return { method: 'DELETE', path }
      case 1:
        return { method: 'PATCH', path, headers: merge, body: map() }
      case 2:
        return {
          method: 'PATCH',
          path: `${path}?fieldManager=a`,
          headers: apply,
          body: { apiVersion: 'v1', kind: 'ConfigMap', ...map() },
        }
      default:
        return { method: 'POST', path: collection, body: map() }
    }
  })
  return {
    kind: 'admission policies',
    namespace,
    setup: [
      { method: 'POST', path: `${root}/validatingadmissionpolicies`, body: policy },
      { method: 'POST', path: `${root}/validatingadmissionpolicybindings`, body: binding },
    ],
    // Policies that do not compile or only warn never deny the probe.
    ready: {
      request: { method: 'POST', path: `${collection}?dryRun=All`, body: { metadata: { name: 'probe' } } },
      status: 422,
    },
    requests,
    created: [`${root}/validatingadmissionpolicybindings/${name}`, `${root}/validatingadmissionpolicies/${name}`],
  }
}
