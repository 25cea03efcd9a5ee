import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { FakeHost, pem } from '../testdata/fake-host.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { KubeconfigEntry } from './kubeconfig.ts'

const apiVersion = 'client.authentication.k8s.io/v1'

function setUp(fields: object = {}) {
  const host = new FakeHost()
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 1) })
  const all = { apiVersion, command: 'plugin', interactiveMode: 'Never', ...fields }
  const exec = new KubeconfigEntry('/k/config', 'users["a"].user.exec', all)
  const cluster = { server: 'https://x' }
  let status: object = { token: 'one' }
  host.program = () => ({
    exitCode: 0,
    stdout: JSON.stringify({ apiVersion, kind: 'ExecCredential', status }),
    stderr: '',
  })
  const answer = (next: object): void => {
    status = next
  }
  return { host, clock, answer, make: () => new ExecCredentials({ host, clock, exec, cluster }) }
}

describe('ExecCredentials', () => {
  test('runs the plugin as client-go does, once for concurrent callers', async () => {
    const { host, make } = setUp({
      command: './bin/plugin',
      args: ['get', 'token'],
      env: [{ name: 'A', value: 'b' }],
      provideClusterInfo: true,
    })
    const credentials = make()
    const all = await Promise.all([credentials.headers(), credentials.headers()])
    expect(all).toEqual([{ authorization: 'Bearer one' }, { authorization: 'Bearer one' }])
    expect(host.runs).toHaveLength(1)
    expect(host.runs[0]).toMatchObject({ command: '/k/bin/plugin', args: ['get', 'token'], env: { A: 'b' } })
    expect(JSON.parse(host.runs[0]?.env['KUBERNETES_EXEC_INFO'] ?? '')).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://x' } },
    })
  })

  test('runs the plugin again when credentials expire or the server rejects them', async () => {
    const { host, clock, answer, make } = setUp()
    answer({ token: 'one', expirationTimestamp: '2026-01-01T00:01:00Z' })
    const credentials = make()
    await credentials.headers()
    await clock.advance('59s')
    await credentials.headers()
    expect(host.runs).toHaveLength(1)
    await clock.advance('1s')
    answer({ token: 'two' })
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' })
    answer({ token: 'three' })
    expect(credentials.renew()).toBe(true)
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer three' })
  })

  test('returns certificates', async () => {
    const { answer, make } = setUp()
    answer({ clientCertificateData: pem('CERT'), clientKeyData: pem('KEY') })
    expect(await make().credential()).toEqual({ cert: pem('CERT'), key: pem('KEY') })
    expect(await make().headers()).toEqual({})
  })

  test.each<[object, string]>([
    [{}, "didn't return a token or cert/key pair"],
    [{ clientKeyData: 'x' }, 'returned only certificate or key, not both'],
    [{ token: 'x', expirationTimestamp: 'soon' }, 'returned expirationTimestamp "soon", which is not a time'],
  ])('rejects the output %j', async (status, message) => {
    const { answer, make } = setUp()
    answer(status)
    await expect(make().headers()).rejects.toMatchObject({
      code: 'KW_CREDENTIALS',
      message: `/k/config: users["a"].user.exec: plugin plugin ${message}`,
    })
  })

  test('reports the install hint of a missing plugin and the output of a failing one', async () => {
    const { host, make } = setUp({ installHint: 'Get it from example.com.' })
    host.program = () => Object.assign(new Error('spawn plugin ENOENT'), { code: 'ENOENT' })
    await expect(make().headers()).rejects.toThrow(
      'plugin was not found: install it or add it to PATH\n\nGet it from example.com.',
    )
    host.program = () => ({ exitCode: 2, stdout: '', stderr: 'not logged in\n' })
    await expect(make().headers()).rejects.toThrow('failed with exit code 2: not logged in')
    host.program = () => ({ exitCode: 0, stdout: 'x', stderr: '' })
    await expect(make().headers()).rejects.toThrow('did not print JSON')
    host.program = () => ({ exitCode: 0, stdout: '{"apiVersion":"v0"}', stderr: '' })
    await expect(make().headers()).rejects.toThrow(`is configured to use API version ${apiVersion}, but returned v0`)
  })

  test.each<[object, string]>([
    [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, 'exec.apiVersion: must be one of'],
    [{ command: '' }, 'exec.command: must be specified'],
    [{ interactiveMode: '' }, 'exec.interactiveMode: must be specified'],
    [{ interactiveMode: 'Always' }, 'exec.interactiveMode: is Always, but the plugin cannot prompt the user here'],
    [{ interactiveMode: 'Sometimes' }, 'exec.interactiveMode: "Sometimes" is unknown'],
  ])('rejects the configuration %j', (fields, message) => {
    expect(setUp(fields).make).toThrow(message)
  })
})
