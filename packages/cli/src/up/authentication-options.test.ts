import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiServerFlags } from './api-server-flags.ts'
import { type ApiServerOptions, apiServerOptions } from './api-server-options.ts'
import { configFileArguments } from './config-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-authentication-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const options = (...args: string[]): Promise<ApiServerOptions> =>
  apiServerOptions(parseFlags(apiServerFlags, args).values)

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

describe('apiServerOptions()', () => {
  it('prefixes user names with the issuer unless the claim is email or the prefix is -', async () => {
    const usernameOf = async (...args: string[]): Promise<unknown> =>
      (await options(...issuer, ...args)).authentication?.jwt[0]?.username
    expect(await usernameOf()).toEqual({ claim: 'sub', prefix: 'https://issuer.example.com#' })
    expect(await usernameOf('--oidc-username-claim=email')).toEqual({ claim: 'email', prefix: '' })
    expect(await usernameOf('--oidc-username-prefix=-')).toEqual({ claim: 'sub', prefix: '' })
    expect(await usernameOf('--oidc-username-prefix=x:')).toEqual({ claim: 'sub', prefix: 'x:' })
  })

  it('reads groups, required claims and algorithms', async () => {
    const { authentication } = await options(
      ...issuer,
      '--oidc-groups-claim=roles',
      '--oidc-groups-prefix=g:',
      '--oidc-required-claim=hd=a=b',
      '--oidc-required-claim=org=acme',
      '--oidc-signing-algs=ES256,PS512',
    )
    expect(authentication).toMatchObject({
      jwt: [{ groups: { claim: 'roles', prefix: 'g:' } }],
      algorithms: ['ES256', 'PS512'],
    })
    expect([...authentication!.jwt[0]!.requiredClaims]).toEqual([
      ['hd', 'a=b'],
      ['org', 'acme'],
    ])
  })

  it.each([
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
    await expect(async () => options(...args)).rejects.toThrow(message)
  })

  it('reads issuers and anonymous access from --authentication-config', async () => {
    const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
    const file = await fileWith({ kind: 'AuthenticationConfiguration', jwt, anonymous })
    const read = await options('--authentication-config', file)
    expect(read.authentication?.jwt).toHaveLength(1)
    const allows = read.anonymous as (path: string) => boolean
    expect([allows('/livez'), allows('/api')]).toEqual([true, false])
    await expect(options('--authentication-config', file, '--anonymous-auth=false')).rejects.toThrow(
      '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  })

  it('refuses changed anonymous access in a new version of the file', async () => {
    const file = await fileWith({ kind: 'AuthenticationConfiguration', jwt })
    const { authentication } = await options('--authentication-config', file)
    const changed = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt: [] }
    expect(authentication!.file!.parse(JSON.stringify(changed))).toEqual([])
    expect(() => authentication!.file!.parse(JSON.stringify({ ...changed, anonymous: { enabled: true } }))).toThrow(
      'anonymous: Forbidden: changed from initial configuration file',
    )
    expect(() => authentication!.file!.parse('')).toThrow('empty config data')
  })
})

describe('configFileArguments()', () => {
  it('repeats a flag that may be given several times', async () => {
    const file = join(folder, 'up.yaml')
    await writeFile(file, 'oidc-required-claim: { hd: example.com, org: "a,b" }\noidc-signing-algs: [RS256, ES256]\n')
    expect(await configFileArguments(['--config', file], apiServerFlags)).toEqual([
      '--oidc-required-claim=hd=example.com',
      '--oidc-required-claim=org=a,b',
      '--oidc-signing-algs=RS256,ES256',
    ])
  })
})
