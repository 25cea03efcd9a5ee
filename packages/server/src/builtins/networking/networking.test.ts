import { describe, expect, it } from 'vitest'
import { createErrors, createWarnings, defaulted, updated } from '../../testdata/strategy-harness.ts'

function object(kind: string, spec: object, name = 'n'): object {
  return { apiVersion: 'networking.k8s.io/v1', kind, metadata: { name }, spec }
}

const service = { name: 'web', port: { number: 80 } }

function rule(path: object): object {
  return { rules: [{ host: 'a.example.com', http: { paths: [path] } }] }
}

describe('ingresses', () => {
  it.each<[string, object, string[]]>([
    ['accept a plain one', rule({ path: '/', pathType: 'Prefix', backend: { service } }), []],
    ['want something to do', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    [
      'want a path type',
      rule({ path: '/', backend: { service } }),
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    [
      'refuse paths that leave',
      rule({ path: '/a/../b//c', pathType: 'Exact', backend: { service } }),
      [
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'//\'',
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'/../\'',
      ],
    ],
    [
      'refuse backends without and with two ports',
      { defaultBackend: { service: { name: 'web', port: { name: 'http', number: 80 } } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
    ],
    [
      'refuse backends without port',
      { defaultBackend: { service: { name: 'web' } } },
      ['spec.defaultBackend: Required value: port name or number is required'],
    ],
    [
      'refuse addresses as hosts',
      { rules: [{ host: '10.0.0.1' }] },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('Ingress', spec))).toEqual(errors)
  })

  it('warn of the class as an annotation', () => {
    const given = object('Ingress', { defaultBackend: { service } }) as { metadata: object }
    given.metadata = { name: 'n', annotations: { 'kubernetes.io/ingress.class': 'x' } }
    expect(createWarnings(given)).toEqual([
      'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
    ])
  })

  it('may keep a wildcard rule that is refused nowadays', async () => {
    const { errors } = await updated(
      object('Ingress', {
        rules: [{ host: '*.example.com', http: { paths: [{ path: 'x', pathType: 'Exact', backend: { service } }] } }],
      }),
      (next) => void (next.metadata.labels = { a: 'b' }),
    )
    expect(errors).toEqual([])
  })
})

describe('network policies', () => {
  it('follow from their rules which types they have', () => {
    expect(defaulted(object('NetworkPolicy', { podSelector: {}, egress: [{}] }))['spec']).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
    })
  })

  it.each<[string, object, string[]]>([
    [
      'refuse ports out of order',
      { ingress: [{ ports: [{ port: 90, endPort: 80 }] }] },
      ['spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`'],
    ],
    ['want a peer', { ingress: [{ from: [{}] }] }, ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [
      'refuse exceptions outside of their block',
      { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/16', except: ['10.1.0.0/24', '10.0.1.0/24'] } }] }] },
      ['spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": must be a strict subset of `cidr`'],
    ],
    [
      'refuse what is no range',
      { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0' } }] }] },
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'refuse other types',
      { policyTypes: ['Odd'] },
      ['spec.policyTypes[0]: Unsupported value: "Odd": supported values: "Ingress", "Egress"'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('NetworkPolicy', { podSelector: {}, ...spec }))).toEqual(errors)
  })
})

describe('ingress classes', () => {
  it('have parameters of the cluster', () => {
    const spec = { controller: 'example.com/c', parameters: { kind: 'P', name: 'p' } }
    expect(defaulted(object('IngressClass', spec))['spec']).toMatchObject({ parameters: { scope: 'Cluster' } })
  })

  it('keep their controller', async () => {
    const { errors } = await updated(object('IngressClass', { controller: 'example.com/c' }), (next) => {
      next['spec'] = { controller: 'example.com/d' }
    })
    expect(errors).toEqual(['spec.controller: Invalid value: "example.com/d": field is immutable'])
  })
})

describe('service CIDRs', () => {
  it.each<[string, string[], string[]]>([
    ['accept one of each family', ['10.0.0.0/16', '2001:db8::/64'], []],
    ['want one', [], ['spec.cidrs: Required value: at least one CIDR required']],
    [
      'refuse two of one family',
      ['10.0.0.0/16', '10.1.0.0/16'],
      [
        'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      'refuse host bits',
      ['10.0.0.1/16'],
      ['spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length'],
    ],
  ])('%s', async (_, cidrs, errors) => {
    expect(await createErrors(object('ServiceCIDR', { cidrs }))).toEqual(errors)
  })

  it('may grow by a family', async () => {
    const grow = await updated(object('ServiceCIDR', { cidrs: ['10.0.0.0/16'] }), (next) => {
      next['spec'] = { cidrs: ['10.0.0.0/16', '2001:db8::/64'] }
    })
    expect(grow.errors).toEqual([])
  })
})
