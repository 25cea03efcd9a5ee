import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import type { AccessConfig } from '@kubewright/controlplane'
import { defaultRelease } from '@kubewright/k8s/releases'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiServerConfig } from './api-server-config.ts'
import { apiServerFlags } from './api-server-flags.ts'
import { configFileArguments } from './config-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-authentication-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const access = async (...args: string[]): Promise<AccessConfig> => {
  const { config } = await apiServerConfig(defaultRelease, parseFlags(apiServerFlags, args).values, {
    out: () => undefined,
  })
  return config.access!
}

const issuer = ['--oidc-issuer-url=https://issuer.example.com', '--oidc-client-id=app']

const fileWith = async (config: object): Promise<string> => {
  const file = join(folder, 'authentication.yaml')
  await writeFile(file, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', ...config }))
  return file
}

const jwt = [
  {
    issuer: { url: 'https://issuer.example.com', audiences: ['app'] },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  },
]

describe('apiServerConfig(defaultRelease, )', () => {
  test('prefixes user names with the issuer unless the claim is email or the prefix is -', async () => {
    const usernameOf = async (...args: string[]): Promise<unknown> =>
      (await access(...issuer, ...args)).jwt?.issuers[0]?.username
    expect(await usernameOf()).toEqual({ claim: 'sub', prefix: 'https://issuer.example.com#' })
    expect(await usernameOf('--oidc-username-claim=email')).toEqual({ claim: 'email', prefix: '' })
    expect(await usernameOf('--oidc-username-prefix=-')).toEqual({ claim: 'sub', prefix: '' })
    expect(await usernameOf('--oidc-username-prefix=x:')).toEqual({ claim: 'sub', prefix: 'x:' })
  })

  test('reads groups, required claims and algorithms', async () => {
    const { jwt: read } = await access(
      ...issuer,
      '--oidc-groups-claim=roles',
      '--oidc-groups-prefix=g:',
      '--oidc-required-claim=hd=a=b',
      '--oidc-required-claim=org=acme',
      '--oidc-signing-algs=ES256,PS512',
    )
    expect(read).toMatchObject({
      issuers: [{ groups: { claim: 'roles', prefix: 'g:' } }],
      algorithms: ['ES256', 'PS512'],
    })
    expect([...read!.issuers[0]!.requiredClaims]).toEqual([
      ['hd', 'a=b'],
      ['org', 'acme'],
    ])
  })

  test.each([
    [
      ['--oidc-client-id=x'],
      'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
    ],
    [
      ['--oidc-issuer-url=http://x', '--oidc-client-id=x'],
      'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https',
    ],
    [[...issuer, '--oidc-signing-algs=HS256'], 'oidc: unsupported signing alg: "HS256"'],
    [[...issuer, '--oidc-required-claim=x'], '--oidc-required-claim must be CLAIM=VALUE, not "x"'],
    [[...issuer, '--authentication-config=x'], 'authentication-config file and oidc-* flags are mutually exclusive'],
  ])('refuses %j', async (args, message) => {
    await expect(async () => access(...args)).rejects.toThrow(message)
  })

  test('reads issuers and anonymous access from --authentication-config', async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const file = await fileWith({ kind: 'AuthenticationConfiguration', jwt, anonymous })
    const read = await access('--authentication-config', file)
    expect(read.jwt?.issuers).toHaveLength(1)
    const allows = read.anonymous as (path: string) => boolean
    expect([allows('/livez'), allows('/api')]).toEqual([true, false])
    await expect(access('--authentication-config', file, '--anonymous-auth=false')).rejects.toThrow(
      '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  })

  test('refuses changed anonymous access in a new version of the file', async () => {
    const file = await fileWith({ kind: 'AuthenticationConfiguration', jwt })
    const { jwt: read } = await access('--authentication-config', file)
    const changed = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt: [] }
    expect(read!.file!.parse(JSON.stringify(changed))).toEqual([])
    expect(() => read!.file!.parse(JSON.stringify({ ...changed, anonymous: { enabled: true } }))).toThrow(
      'anonymous: Forbidden: changed from initial configuration file',
    )
    expect(() => read!.file!.parse('')).toThrow('empty config data')
  })
})

describe('configFileArguments()', () => {
  test('repeats a flag that may be given several times', async () => {
    const file = join(folder, 'up.yaml')
    await writeFile(file, 'oidc-required-claim: { hd: example.com, org: "a,b" }\noidc-signing-algs: [RS256, ES256]\n')
    expect(await configFileArguments(['--config', file], apiServerFlags)).toEqual([
      '--oidc-required-claim=hd=example.com',
      '--oidc-required-claim=org=a,b',
      '--oidc-signing-algs=RS256,ES256',
    ])
  })
})
