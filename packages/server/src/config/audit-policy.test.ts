import { KubewrightError } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type AuditedRequest, auditDecisions, parseAuditPolicy } from './audit-policy.ts'

const header = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' }
const parse = (policy: object) => parseAuditPolicy({ ...header, ...policy })

const podsGet: AuditedRequest = {
  user: { name: 'jane', groups: ['dev', 'system:authenticated'] },
  verb: 'get',
  isResource: true,
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
  path: '/api/v1/namespaces/a/pods/p',
}
const health: AuditedRequest = {
  ...podsGet,
  isResource: false,
  resource: '',
  namespace: '',
  name: '',
  path: '/healthz/etcd',
}
const log: AuditedRequest = { ...podsGet, subresource: 'log' }

describe('auditDecisions()', () => {
  const levelOf = (rule: object, request: AuditedRequest): string =>
    auditDecisions(parse({ rules: [{ level: 'Metadata', ...rule }] }).policy)(request).level

  test.each<[object, AuditedRequest, boolean]>([
    [{}, podsGet, true],
    [{ users: ['jane'] }, podsGet, true],
    [{ users: ['joe'] }, podsGet, false],
    [{ users: ['jane'] }, { ...podsGet, user: undefined }, false],
    [{ userGroups: ['ops', 'dev'] }, podsGet, true],
    [{ userGroups: ['ops'] }, podsGet, false],
    [{ userGroups: ['dev'] }, { ...podsGet, user: undefined }, false],
    [{ verbs: ['list'] }, podsGet, false],
    [{ namespaces: ['a'] }, podsGet, true],
    [{ namespaces: [''] }, podsGet, false],
    [{ namespaces: ['a'] }, health, false],
    [{ resources: [{ group: '' }] }, podsGet, true],
    [{ resources: [{ group: 'apps' }] }, podsGet, false],
    [{ resources: [{ group: '', resources: ['pods'] }] }, podsGet, true],
    [{ resources: [{ group: '', resources: ['pods'] }] }, log, false],
    [{ resources: [{ group: '', resources: ['pods/log'] }] }, log, true],
    [{ resources: [{ group: '', resources: ['*'] }] }, log, true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, log, true],
    [{ resources: [{ group: '', resources: ['*/log'] }] }, podsGet, false],
    [{ resources: [{ group: '', resources: ['pods/*'] }] }, podsGet, true],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['q'] }] }, podsGet, false],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['p'] }] }, podsGet, true],
    [{ nonResourceURLs: ['/healthz*'] }, health, true],
    [{ nonResourceURLs: ['/healthz'] }, health, false],
    [{ nonResourceURLs: ['*'] }, health, true],
    [{ nonResourceURLs: ['*'] }, podsGet, false],
  ])('matches %j with a request as kube-apiserver does', (rule, request, expected) => {
    expect(levelOf(rule, request)).toBe(expected ? 'Metadata' : 'None')
  })

  test('takes the first rule that matches, with the stages of rule and policy', () => {
    const { policy } = parse({
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
        { level: 'RequestResponse' },
      ],
    })
    const decide = auditDecisions(policy)
    expect(decide(podsGet)).toEqual({
      level: 'Request',
      omitStages: new Set(['RequestReceived', 'Panic']),
      omitManagedFields: false,
    })
    expect(decide({ ...podsGet, verb: 'list' })).toMatchObject({ level: 'RequestResponse', omitManagedFields: true })
  })
})

describe('parseAuditPolicy()', () => {
  test('reports fields that the format does not have', () => {
    expect(parse({ rules: [{ level: 'None', verb: 'get' }], extra: 1 }).unknownFields).toEqual([
      'rules[0].verb',
      'extra',
    ])
  })

  test.each<[object, string]>([
    [{ kind: 'Polity' }, 'unknown group version field audit.k8s.io/v1, Kind=Polity in policy'],
    [{}, 'loaded illegal policy with 0 rules'],
    [{ rules: [{}] }, 'rules[0].level: Required value'],
    [
      { rules: [{ level: 'All' }] },
      'rules[0].level: Unsupported value: "All": supported values: "Metadata", "None", "Request", "RequestResponse"',
    ],
    [
      { omitStages: ['Begin'], rules: [{ level: 'None' }] },
      'omitStages[0]: Invalid value: "Begin": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
    ],
    [
      { rules: [{ level: 'None', nonResourceURLs: ['x', '/a*b'], namespaces: ['a'] }] },
      `rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character, ` +
        `rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule, ` +
        'rules[0].nonResourceURLs: Invalid value: ["x","/a*b"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
    [
      { rules: [{ level: 'None', resources: [{ group: '', resourceNames: ['a'] }] }] },
      'rules[0].resources[0].resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
    ],
    [{ rules: [{ level: 'None', users: 'jane' }] }, 'rules[0].users: must be a list of strings, not "jane"'],
  ])('refuses %j', (policy, message) => {
    expect(() => parse(policy)).toThrow(new KubewrightError('KW_SERVER_CONFIG', message))
  })
})
