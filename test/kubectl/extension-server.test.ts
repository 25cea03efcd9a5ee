// The extension server of the examples behind `up`, with the real kubectl: clients see one API.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RunningExtension, startExtension } from '../../examples/extension-server/src/extension-server.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from './kubectl.ts'

const missing = kubectlMissing() ?? kubectlTooOld()
const name = 'v1.hello.example.com'
let folder: TemporaryFolder
let up: UpProcess
let kubectl: Kubectl
let extension: RunningExtension

beforeAll(async () => {
  if (missing !== undefined) return
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory'], folder.path)
  kubectl = new Kubectl(up.kubeconfig, folder.path)
  const path = 'jsonpath={.data.requestheader-client-ca-file}'
  const proxyCa = await kubectl.run([
    ...['get', 'configmap', '-n', 'kube-system', 'extension-apiserver-authentication', '-o', path],
  ])
  extension = await startExtension(proxyCa, Date.now())
  const items = extension.manifests
  await kubectl.run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await kubectl.run(['wait', `apiservice/${name}`, '--for=condition=Available', '--timeout=10s'])
})

afterAll(async () => {
  await extension?.[Symbol.asyncDispose]()
  await up?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing)
})

describe('kubectl with an extension server', () => {
  test('creates, lists and deletes its objects by their short name', async () => {
    const greeting = { apiVersion: 'hello.example.com/v1', kind: 'Greeting', metadata: { name: 'world' } }
    await kubectl.run(['create', '-f', '-'], JSON.stringify({ ...greeting, spec: { to: 'world' } }))
    const lines = (await kubectl.run(['get', 'hi'])).trim().split('\n')
    expect(lines.map((line) => line.split(/\s+/))).toEqual([
      ['NAME', 'TEXT', 'TO'],
      ['world', 'Hello', 'world'],
    ])
    expect(await kubectl.run(['delete', 'greeting', 'world'])).toContain('greeting.hello.example.com "world" deleted')
  })

  test('explain shows its fields', async () => {
    expect(await kubectl.run(['explain', 'greeting.spec.to'])).toContain('The person to greet.')
  })

  test('is denied by the aggregating server without permission', async () => {
    const { code, error } = await kubectl.try(['get', 'greetings', '--as', 'bob'])
    expect(code).toBe(1)
    expect(error).toBe(
      'Error from server (Forbidden): greetings.hello.example.com is forbidden: User "bob" cannot list resource ' +
        '"greetings" in API group "hello.example.com" in the namespace "default"\n',
    )
  })

  test('get apiservice shows whether it is available', async () => {
    const [, line = ''] = (await kubectl.run(['get', 'apiservice', name])).split('\n')
    expect(line.split(/\s+/).slice(0, 3)).toEqual([name, 'default/hello', 'True'])
  })
})
