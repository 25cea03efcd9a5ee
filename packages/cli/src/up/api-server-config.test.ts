import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags, UsageError } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import { describe, expect, test } from 'vitest'
import { type ApiServerConfig, apiServerConfig } from './api-server-config.ts'
import { apiServerFlags } from './api-server-flags.ts'
import { exposure } from './exposure.ts'
import { parseTokenFile } from './token-file.ts'

const options = async (args: string, plugins?: readonly string[]): Promise<ApiServerConfig> => {
  const { values } = parseFlags(apiServerFlags, args === '' ? [] : args.split(' '))
  return apiServerConfig(defaultRelease, { ...values, 'enable-admission-plugins': plugins }, { out: () => undefined })
}

describe('apiServerConfig(defaultRelease, )', () => {
  test('listens on the loopback address and authorizes by Node and RBAC by default', async () => {
    expect(await options('')).toEqual({
      config: {
        serving: { bindAddress: '127.0.0.1' },
        serviceRanges: { clusterIpRange: '10.0.0.0/24' },
        access: { authorization: ['Node', 'RBAC'], anonymous: true, tokens: [], bootstrapTokens: true },
        admissionPlugins: [],
        disabledAdmissionPlugins: [],
        flowControl: true,
        limits: { inFlight: { readOnly: 400, mutating: 200 } },
      },
      warnings: [],
    })
  })

  test('reads flags and the files that they name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubewright-flags-'))
    try {
      const file = join(folder, 'tokens.csv')
      await writeFile(file, 's3cret,jane,42,"dev,ops"\n')
      const read = await options(
        `--bind-address :: --advertise-address 192.0.2.1 --service-cluster-ip-range 10.96.3.4/16 --authorization-mode Node,RBAC ` +
          `--anonymous-auth=false --token-auth-file ${file} --disable-admission-plugins LimitRanger --max-requests-inflight 0 ` +
          '--max-mutating-requests-inflight 7 --no-scheduler',
        ['OwnerReferencesPermissionEnforcement', 'PodSecurity'],
      )
      expect(read).toEqual({
        config: {
          serving: { bindAddress: '::', advertiseAddress: '192.0.2.1' },
          serviceRanges: { clusterIpRange: '10.96.0.0/16' },
          access: {
            authorization: ['Node', 'RBAC'],
            anonymous: false,
            tokens: [{ token: 's3cret', user: { name: 'jane', uid: '42', groups: ['dev', 'ops'] } }],
            bootstrapTokens: true,
          },
          admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
          disabledAdmissionPlugins: ['LimitRanger'],
          flowControl: true,
          limits: { inFlight: { readOnly: Number.POSITIVE_INFINITY, mutating: 7 } },
          scheduler: false,
        },
        warnings: [],
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('refuses anonymous requests in the mode AlwaysAllow, as kube-apiserver does', async () => {
    expect(await options('--authorization-mode AlwaysAllow')).toMatchObject({
      config: { access: { anonymous: false } },
      warnings: [expect.stringContaining('AlwaysAllow')],
    })
  })

  test.each([
    ['--bind-address localhost', '--bind-address must be an IP address, not "localhost"'],
    ['--advertise-address 127.0.0.1', '--advertise-address must be an address that the rest of the cluster can reach'],
    ['--service-cluster-ip-range 10.0.0.0/8', 'the mask must be >= 12, not 8'],
    ['--service-cluster-ip-range 10.0.0.0/30', 'must contain at least 8 IP addresses'],
    ['--service-cluster-ip-range fd00::/112', 'must be an IPv4 range, not "fd00::/112"'],
    ['--service-cluster-ip-range 10.0.0.0/24,fd00::/112', 'two address families are not supported'],
    ['--authorization-mode ABAC', 'must be among AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook, not "ABAC"'],
    ['--authorization-mode RBAC,RBAC', 'has mode specified more than once: RBAC'],
    ['--disable-admission-plugins X', '--disable-admission-plugins must be among'],
    ['--max-requests-inflight -1', '--max-requests-inflight needs a value'],
  ])('refuses %s', async (args, message) => {
    await expect(options(args)).rejects.toThrow(UsageError)
    await expect(options(args)).rejects.toThrow(message)
  })

  test('accepts known feature gates and warns about those without effect', async () => {
    expect((await options('--feature-gates WatchList=true,ContextualLogging=true')).warnings).toEqual([])
    expect((await options('--feature-gates AllAlpha=true')).warnings).toEqual([
      '--feature-gates AllAlpha=true has no effect: this server has the features of v1.35 that are on by default',
    ])
    await expect(options('--feature-gates Nosuch=true')).rejects.toThrow('unrecognized feature gate: Nosuch')
    await expect(options('--feature-gates APIServingWithRoutine=false')).resolves.toBeDefined()
    await expect(options('--feature-gates ServiceAccountTokenJTI=false')).rejects.toThrow(
      'cannot set feature gate ServiceAccountTokenJTI to false, feature is locked to true',
    )
  })

  test('refuses a plugin that is both enabled and disabled', async () => {
    await expect(options('--disable-admission-plugins PodSecurity', ['PodSecurity'])).rejects.toThrow(
      'PodSecurity in enable-admission-plugins and disable-admission-plugins overlapped',
    )
  })
})

describe('parseTokenFile()', () => {
  test('reads quoted fields, skips empty lines and warns about empty and duplicate tokens', () => {
    const { tokens, warnings } = parseTokenFile('a,jane,1\r\n\n"b ""x""",joe,,"g1,g2"\n,x,y\na,ann,2,\n', 't.csv')
    expect(tokens).toEqual([
      { token: 'a', user: { name: 'ann', uid: '2', groups: [] } },
      { token: 'b "x"', user: { name: 'joe', uid: '', groups: ['g1', 'g2'] } },
    ])
    expect(warnings).toEqual([
      `empty token has been found in token file 't.csv', record number '3'`,
      `duplicate token has been found in token file 't.csv', record number '4'`,
    ])
  })

  test('refuses records with fewer than three columns and stray quotes', () => {
    expect(() => parseTokenFile('a,jane', 't.csv')).toThrow(
      `token file 't.csv' must have at least 3 columns (token, user name, user uid), found 2`,
    )
    expect(() => parseTokenFile('a,ja"ne,1', 't.csv')).toThrow('unexpected quote in record 1')
  })
})

describe('exposure()', () => {
  test('describes nothing for a loopback address', () => {
    expect(exposure([], { access: { tokens: [{ token: 't', user: { name: 'a', groups: [] } }] } })).toEqual([])
  })

  test('describes who may do what at the URLs', () => {
    const urls = ['https://192.0.2.7:6443', 'https://[2001:db8::7]:6443']
    const tokens = [{ token: 't', user: { name: 'a', groups: [] } }]
    expect(exposure(urls, { access: { authorization: ['AlwaysAllow'], anonymous: false, tokens } })).toEqual([
      'Other machines can connect to https://192.0.2.7:6443, https://[2001:db8::7]:6443',
      '  Every client with valid credentials may do everything: see --authorization-mode',
      '  Clients without credentials get 401',
      '  Static bearer tokens that are accepted: 1',
    ])
  })
})
