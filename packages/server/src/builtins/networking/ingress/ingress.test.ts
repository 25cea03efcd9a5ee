import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { ingresses } from './ingress.ts'

const { createErrors, createWarnings, updated } = strategyHarness(ingresses)

function object(kind: string, spec: object, name = 'n'): object {
  return { apiVersion: 'networking.k8s.io/v1', kind, metadata: { name }, spec }
}

const service = { name: 'web', port: { number: 80 } }

function rule(path: object): object {
  return { rules: [{ host: 'a.example.com', http: { paths: [path] } }] }
}

describe('ingresses', () => {
  test.each<[string, object, string[]]>([
    ['accept a minimal object', rule({ path: '/', pathType: 'Prefix', backend: { service } }), []],
    [
      'require a default backend or rules',
      {},
      ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'require a path type',
      rule({ path: '/', backend: { service } }),
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    [
      'reject paths with // or ..',
      rule({ path: '/a/../b//c', pathType: 'Exact', backend: { service } }),
      [
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'//\'',
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'/../\'',
      ],
    ],
    [
      'reject backends with a port name and a port number',
      { defaultBackend: { service: { name: 'web', port: { name: 'http', number: 80 } } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
    ],
    [
      'reject backends without port',
      { defaultBackend: { service: { name: 'web' } } },
      ['spec.defaultBackend: Required value: port name or number is required'],
    ],
    [
      'reject IP addresses as hosts',
      { rules: [{ host: '10.0.0.1' }] },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('Ingress', spec))).toEqual(errors)
  })

  test('warn about the deprecated class annotation', () => {
    const given = object('Ingress', { defaultBackend: { service } }) as { metadata: object }
    given.metadata = { name: 'n', annotations: { 'kubernetes.io/ingress.class': 'x' } }
    expect(createWarnings(given)).toEqual([
      'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
    ])
  })

  test('allow an update to keep an invalid wildcard rule of the stored object', async () => {
    const { errors } = await updated(
      object('Ingress', {
        rules: [{ host: '*.example.com', http: { paths: [{ path: 'x', pathType: 'Exact', backend: { service } }] } }],
      }),
      (next) => void (next.metadata.labels = { a: 'b' }),
    )
    expect(errors).toEqual([])
  })

  test('show at most three hosts', () => {
    expect(
      cellsOf(ingresses, {
        spec: {
          ingressClassName: 'nginx',
          rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }],
          tls: [{}],
        },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
      }),
    ).toEqual(['x', 'nginx', 'a,b,c + 2 more...', '1.1.1.1', '80, 443', '60m'])
  })

  test('show * for rules without hosts', () => {
    expect(cellsOf(ingresses, { spec: { rules: [{}] } })).toEqual(['x', '<none>', '*', '', '80', '60m'])
  })
})
