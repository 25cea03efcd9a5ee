import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { base64, FakeHost, pem } from '../testdata/fake-host.ts'
import { ConfigError } from './config-error.ts'
import { loadClientConfig } from './load-client-config.ts'

const path = '/home/ada/.kube/config'

interface Setting {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
}

function kubeconfig({ cluster = {}, user = {}, context = {} }: Setting, name = 'one'): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: `https://${name}.example.com:6443`, ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
  })
}

function setUp(setting: Setting | string = {}) {
  const host = new FakeHost()
  const clock = new VirtualClock()
  host.files.set(path, typeof setting === 'string' ? setting : kubeconfig(setting))
  return { host, clock, load: (options = {}) => loadClientConfig({ host, clock, ...options }) }
}

describe('loadClientConfig() sources', () => {
  test('reads the given file, which must exist', async () => {
    const { host, load } = setUp()
    host.files.set('/k', kubeconfig({}, 'asked'))
    host.env['KUBECONFIG'] = path
    expect((await load({ kubeconfig: '/k' })).server).toBe('https://asked.example.com:6443')
    await expect(load({ kubeconfig: '/none' })).rejects.toThrow('/none: the file does not exist')
  })

  test('merges the files of KUBECONFIG in order and skips missing ones', async () => {
    const { host, load } = setUp()
    host.env['KUBECONFIG'] = '/none:/a:/b'
    host.files.set('/a', kubeconfig({ cluster: { server: 'https://first' } }, 'shared'))
    const second = JSON.parse(kubeconfig({ cluster: { server: 'https://second' } }, 'shared'))
    second.contexts.push({ name: 'other', context: { cluster: 'shared', user: 'shared', namespace: 'ns' } })
    second['current-context'] = 'other'
    host.files.set('/b', JSON.stringify(second))
    expect(await load()).toMatchObject({
      server: 'https://first',
      source: '/a:/b context "shared"',
      namespace: 'default',
    })
    expect(await load({ context: 'other' })).toMatchObject({ server: 'https://first', namespace: 'ns' })
  })

  test('falls back to ~/.kube/config, then to the service account of the pod', async () => {
    const { host, load } = setUp()
    host.env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
    host.files.set(`${folder}/token`, 'secret\n')
    host.files.set(`${folder}/ca.crt`, pem('CA'))
    host.files.set(`${folder}/namespace`, 'mine')
    expect((await load()).server).toBe('https://one.example.com:6443')
    host.files.set(path, 'apiVersion: v1\nkind: Config\n')
    const config = await load()
    expect(config).toMatchObject({ source: 'in-cluster', server: 'https://[fd00::1]:443', namespace: 'mine' })
    expect(await config.credentials?.headers()).toEqual({ authorization: 'Bearer secret' })
    expect((await config.tls?.())?.ca).toBe(pem('CA'))
    host.files.delete(`${folder}/token`)
    await expect(load()).rejects.toThrow(`${folder}/token: cannot read the file`)
  })

  test('reports the missing files when there is no configuration', async () => {
    const { host, load } = setUp()
    host.files.clear()
    await expect(load()).rejects.toThrow(
      'No cluster is configured: /home/ada/.kube/config is missing or empty, and this is not a pod. Set KUBECONFIG or specify a kubeconfig',
    )
  })
})

describe('loadClientConfig() contents', () => {
  test('prefers embedded data to files, and resolves paths relative to the kubeconfig', async () => {
    const { host, load } = setUp({
      cluster: { 'certificate-authority': 'ca.crt', 'tls-server-name': 'kubernetes', 'disable-compression': true },
      user: { 'client-certificate-data': base64(pem('CERT')), 'client-certificate': 'x', 'client-key': '../key.pem' },
    })
    host.files.set('/home/ada/.kube/ca.crt', pem('CA'))
    host.files.set('/home/ada/key.pem', pem('KEY'))
    const config = await load()
    expect(config.compression).toBe(false)
    expect(await config.tls?.()).toEqual({
      ca: pem('CA'),
      cert: pem('CERT'),
      key: pem('KEY'),
      serverName: 'kubernetes',
      insecure: false,
    })
  })

  test('reads certificates again after five minutes and keeps the old ones when that fails', async () => {
    const { host, clock, load } = setUp({ cluster: { 'certificate-authority': '/ca' } })
    host.files.set('/ca', pem('OLD'))
    const { tls } = await load()
    const first = await tls?.()
    host.files.set('/ca', pem('NEW'))
    expect(await tls?.()).toBe(first)
    await clock.advance('5m')
    expect((await tls?.())?.ca).toBe(pem('NEW'))
    host.files.delete('/ca')
    await clock.advance('5m')
    expect((await tls?.())?.ca).toBe(pem('NEW'))
  })

  test('reads a token file again periodically, and immediately when the server rejects the token', async () => {
    const { host, clock, load } = setUp({ user: { tokenFile: '/token', token: 'fallback' } })
    const { credentials } = await load()
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer fallback' })
    host.files.set('/token', 'one\n')
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer one' })
    host.files.set('/token', 'two\n')
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer one' })
    await clock.advance('50s')
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer two' })
    host.files.set('/token', 'three\n')
    expect(credentials?.renew()).toBe(true)
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer three' })
  })

  test('supports tokens, passwords and impersonation', async () => {
    const { load } = setUp({
      user: { username: 'ada', password: 's:', as: 'bob', 'as-groups': ['g'], 'as-user-extra': { 'a/b': ['c'] } },
    })
    const config = await load()
    expect(await config.credentials?.headers()).toEqual({ authorization: `Basic ${base64('ada:s:')}` })
    expect(config.impersonate).toEqual({ user: 'bob', uid: undefined, groups: ['g'], extra: { 'a/b': ['c'] } })
  })

  test('prefers the proxy of the cluster to that of the environment', async () => {
    const { host, load } = setUp({ cluster: { 'proxy-url': 'http://proxy:3128' } })
    host.env['HTTPS_PROXY'] = 'other:1'
    expect((await load()).proxy).toBe('http://proxy:3128')
    host.files.set(path, kubeconfig({}))
    expect((await load()).proxy).toBe('http://other:1')
    for (const exempt of ['*', 'example.com', '.example.com', 'one.example.com:6443']) {
      host.env['NO_PROXY'] = `x, ${exempt}`
      expect((await load()).proxy).toBeUndefined()
    }
    host.env['NO_PROXY'] = '10.0.0.0/8,one.example.com:443,ne.example.com'
    expect((await load()).proxy).toBe('http://other:1')
    host.files.set(path, kubeconfig({ cluster: { server: 'https://10.1.2.3' } }))
    expect((await load()).proxy).toBeUndefined()
  })

  test.each<[string, Setting | string, string]>([
    ['YAML', 'a: [', `${path}: `],
    ['another document', 'kind: Pod', `${path}: is not a kubeconfig: apiVersion and kind must be v1 and Config`],
    ['a list', '[]', `${path}: is not a kubeconfig: it must be an object`],
    ['clusters', 'clusters: 1', `${path}: clusters: must be a list`],
    ['no server', { cluster: { server: '' } }, `${path}: clusters["one"].cluster.server: must be specified`],
    [
      'server',
      { cluster: { server: 'ftp://x' } },
      'cluster.server: must be a URL such as https://host:6443, not "ftp://x"',
    ],
    ['proxy', { cluster: { 'proxy-url': 'socks5://x' } }, 'cluster.proxy-url: must be a URL of scheme http or https'],
    ['base64', { cluster: { 'certificate-authority-data': '%' } }, 'cluster.certificate-authority-data: is not base64'],
    [
      'PEM',
      { user: { 'client-key-data': 'aaaa' } },
      `${path}: users["one"].user.client-key-data: is not PEM in base64`,
    ],
    ['key', { user: { 'client-certificate': 'x' } }, 'user.client-key: or client-key-data must be specified'],
    ['both', { user: { token: 'x', username: 'y' } }, 'username/password or bearer token may be set, but not both'],
    ['type', { user: { token: 7 } }, `${path}: users["one"].user.token: must be a string, not a number`],
    ['auth-provider', { user: { 'auth-provider': {} } }, 'user.auth-provider: is not supported'],
    [
      'no user',
      { context: { user: 'bob' } },
      'contexts["one"].context.user: user "bob" does not exist: the users are one',
    ],
    [
      'no cluster',
      { context: { cluster: 'c' } },
      'contexts["one"].context.cluster: cluster "c" does not exist: the clusters are one',
    ],
    ['insecure', { cluster: { 'insecure-skip-tls-verify': 'yes' } }, 'must be true or false, not "yes"'],
    ['groups', { user: { 'as-groups': ['g'] } }, 'users["one"].user.as: must be specified to impersonate'],
    ['exec', { user: { exec: { command: 'x' } } }, 'users["one"].user.exec.apiVersion: must be specified'],
  ])('names the file and the field of a mistake: %s', async (_, setting, message) => {
    const { load } = setUp(setting)
    const error = await load().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'KW_CONFIG', message: expect.stringContaining(message) })
  })

  test.each<[string, Setting]>([
    ['a token', { user: { token: 31337 } }],
    ['a password', { user: { username: 'ada', password: ['31337'] } }],
    ['a proxy', { cluster: { 'proxy-url': 'socks5://ada:31337@proxy' } }],
    ['a key', { user: { 'client-key-data': '31337' } }],
  ])('does not show secrets in errors: %s', async (_, setting) => {
    const error = await setUp(setting)
      .load()
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).not.toContain('31337')
  })

  test('lists the existing contexts', async () => {
    const { load } = setUp()
    await expect(load({ context: 'two' })).rejects.toThrow(
      `${path}: context "two" does not exist: the contexts are one`,
    )
  })

  test('names the field whose file cannot be read', async () => {
    const { load } = setUp({ cluster: { 'certificate-authority': 'none.crt' } })
    const { tls } = await load()
    await expect(tls?.()).rejects.toThrow(
      `${path}: clusters["one"].cluster.certificate-authority: cannot read the file: ENOENT: no such file or directory, open '/home/ada/.kube/none.crt'`,
    )
  })
})
