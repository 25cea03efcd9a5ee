import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import type { AccessConfig, AuthorizersConfig } from '@kubewright/controlplane'
import { defaultRelease } from '@kubewright/k8s/releases'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiServerConfig } from './api-server-config.ts'
import { apiServerFlags } from './api-server-flags.ts'

let folder: string
let kubeconfig: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-authorization-'))
  kubeconfig = join(folder, 'webhook.kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hook', cluster: { server: 'https://hook.example.com/authorize' } }],
    users: [{ name: 'server', user: { token: 's3cret' } }],
    contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'server' } }],
    'current-context': 'hook',
  }
  await writeFile(kubeconfig, JSON.stringify(config))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const access = async (...args: string[]): Promise<AccessConfig> => {
  const { config } = await apiServerConfig(defaultRelease, parseFlags(apiServerFlags, args).values, {
    out: () => undefined,
  })
  return config.access!
}
/** The chain of authorizers, where webhooks or a file describe one. */
const chain = async (...args: string[]): Promise<AuthorizersConfig> =>
  (await access(...args)).authorization as AuthorizersConfig

describe('apiServerConfig(defaultRelease, )', () => {
  test('reads the webhook of --authorization-webhook-config-file, with the defaults of kube-apiserver', async () => {
    const read = await chain(
      '--authorization-mode=Node,Webhook,RBAC',
      '--authorization-webhook-config-file',
      kubeconfig,
    )
    expect(read.authorizers).toEqual([
      { type: 'Node', name: 'node' },
      {
        type: 'Webhook',
        name: 'default',
        webhook: {
          timeout: 30_000,
          authorizedTtl: 300_000,
          unauthorizedTtl: 30_000,
          version: 'v1beta1',
          failurePolicy: 'NoOpinion',
          kubeConfigFile: kubeconfig,
          matchConditions: [],
        },
      },
      { type: 'RBAC', name: 'rbac' },
    ])
    expect(await read.connect(kubeconfig)()).toMatchObject({
      url: 'https://hook.example.com/authorize',
      headers: { authorization: 'Bearer s3cret' },
    })
  })

  test('reads the webhook of --authentication-token-webhook-config-file', async () => {
    const flag = '--authentication-token-webhook-config-file'
    const { tokenWebhook } = await access(flag, kubeconfig, '--authentication-token-webhook-cache-ttl=10s')
    expect(tokenWebhook).toMatchObject({ version: 'v1beta1', cacheTtl: 10_000 })
    expect(await tokenWebhook!.connection()).toMatchObject({ url: 'https://hook.example.com/authorize' })
    await expect(access(flag, '/none')).rejects.toThrow('cannot use the kubeconfig /none')
  })

  test('reads --authorization-config, and refuses new contents without the first types', async () => {
    const file = join(folder, 'authorization.yaml')
    const config = (...types: string[]): string =>
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthorizationConfiguration',
        authorizers: types.map((type) => ({ type, name: type.toLowerCase() })),
      })
    await writeFile(file, config('RBAC'))
    const { authorizers, file: followed } = await chain('--authorization-config', file)
    expect(authorizers).toEqual([{ type: 'RBAC', name: 'rbac' }])
    expect(await followed!.parse(config('AlwaysDeny', 'RBAC'))).toHaveLength(2)
    await expect(followed!.parse(config('AlwaysDeny'))).rejects.toThrow('missing required types: [RBAC]')
    await expect(followed!.parse(config('RBAC', 'Node'))).rejects.toThrow(
      'authorizer type Node is not allowed if it was not enabled at initial server startup',
    )
  })

  test.each([
    [['--authorization-mode=Webhook'], `authorization-mode Webhook's authorization config file not passed`],
    [
      ['--authorization-webhook-config-file=x'],
      'cannot specify --authorization-webhook-config-file without mode Webhook',
    ],
    [
      ['--authorization-config=x', '--authorization-webhook-version=v1'],
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    ],
    [
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file=/none'],
      '--authorization-webhook-config-file: cannot use the kubeconfig /none',
    ],
    [['--authorization-webhook-cache-authorized-ttl=x'], 'must be a duration such as 30s or 5m, not "x"'],
  ])('refuses %j', async (args, message) => {
    await expect(async () => access(...args)).rejects.toThrow(message)
  })
})
