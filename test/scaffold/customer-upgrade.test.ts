// The life of an operator at a customer, command by command, with packages as they are published: scaffold, edit, generate, deploy,
// upgrade to a second version of the kind with stored objects, migrate, undeploy.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CliProcess } from '../dev/cli-process.ts'
import { Requests } from '../up/requests.ts'
import { configuredRegistry, npmEnvironment, startLocalRegistry, whyUnreachable } from './local-registry.ts'
import { installPacked, packPackages } from './packed-modules.ts'

const parent = mkdtempSync(join(tmpdir(), 'kubewright-customer-'))
const folder = join(parent, 'homes')
const cluster = join(parent, 'cluster.kubeconfig')
const cli = join(folder, 'node_modules/@kubewright/cli/bin/kubewright.js')
// The environment of a user, without the settings of this repository.
const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '', VITEST: undefined, KUBECONFIG: cluster }
const homes = (version: string): string => `/apis/ajd.my.domain/${version}/namespaces/default/homes`
const crd = 'homes.ajd.my.domain'
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`

beforeAll(async () => {
  const registry = configuredRegistry()
  const problem = await whyUnreachable(registry, 'vitest')
  if (problem !== undefined) {
    console.log(`No registry is reachable (${problem}): packages are unpacked and linked instead of installed by npm`)
    mkdirSync(folder)
    await installPacked(folder)
    await kubewright('init', '--yes')
    return
  }
  await using local = await startLocalRegistry(await packPackages(parent), registry)
  const settings = npmEnvironment(local.url, parent)
  await runWith(settings, parent, 'npm', 'create', '--yes', 'kubewright', 'homes', '--', '--yes')
  expect(existsSync(join(folder, 'PROJECT'))).toBe(true)
  await runWith(settings, folder, 'npm', 'install')
}, 400_000)

// npm installed many files.
afterAll(() => rmSync(parent, { recursive: true, force: true }), 120_000)

/** Runs a program to its end. Rejects with its output if it fails. */
function runWith(env: NodeJS.ProcessEnv, cwd: string, program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, env, timeout: 300_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr)
      else reject(new Error(`${[program, ...args].join(' ')} failed:\n${stdout}${stderr}`))
    })
  })
}

const run = (program: string, ...args: string[]): Promise<string> => runWith(env, folder, program, ...args)
const kubewright = (...args: string[]): Promise<string> => run(process.execPath, cli, ...args)
// No port of the machine is taken.
const operatorFlags = [
  '--leader-elect=false',
  '--health-probe-bind-address=0',
  '--metrics-bind-address=0',
  '--webhook-port=0',
  '--webhook-url=https://127.0.0.1:0',
]
const start = (...args: string[]): CliProcess => CliProcess.startProgram(cli, args, folder, env)

function edit(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(folder, path), 'utf8')
  const after = text.replace(from, to)
  if (after === text) throw new Error(`${path} has no ${from}:\n${text}`)
  writeFileSync(join(folder, path), after)
}

const home = (index: number): object => ({
  apiVersion: 'ajd.my.domain/v1',
  kind: 'Home',
  metadata: { name: `home-${index}` },
  spec: { color: 'red' },
})

test('an operator from its scaffold to the end of its life at a customer', { timeout: 900_000 }, async () => {
  // Scaffold, edit, generate.
  await kubewright('create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home')
  edit(
    'src/home.ts',
    / {4}\/\/ Replace this example[\s\S]*?optional\(\),\n/,
    '    color: s.string({ minLength: 1 }),\n',
  )
  edit('src/home.test.ts', "['spec'] = {}", "['spec'] = { color: 'red' }")
  edit('config/samples/ajd_v1_home.yaml', 'foo: bar', 'color: red')
  expect(await run('npm', 'test', '--silent')).toMatch(/1 passed/)
  await kubewright('generate', '--image', 'registry.example.com/homes:1.0.0')
  await kubewright('generate', '--check')

  // Deploy the first release.
  await using up = start('up', '--memory', '--port', '0', '--nodes', '1', '--kubeconfig', cluster)
  await up.line(/^ready /)
  expect(await kubewright('deploy')).toMatch(/deployment\.apps\/homes-controller-manager is ready after/)
  using requests = new Requests(cluster)
  const deployment = '/apis/apps/v1/namespaces/homes-system/deployments/homes-controller-manager'
  const imageOf = async (): Promise<string> => {
    const { body } = await requests.send('GET', deployment)
    return body.spec.template.spec.containers[0].image as string
  }
  expect(await imageOf()).toBe('registry.example.com/homes:1.0.0')

  // The simulated node does not run the image, so the operator runs here.
  {
    await using operator = start('run', ...operatorFlags)
    for (let index = 0; index < 25; index++) {
      expect((await requests.send('POST', homes('v1'), home(index))).status).toBe(201)
    }
    const watch = `${homes('v1')}?watch=1&fieldSelector=metadata.name%3Dhome-24&timeoutSeconds=60`
    await requests.until(watch, ({ status }) => status?.conditions?.[0]?.status === 'True')
    expect(await operator.stop()).toBe(0)
  }

  // The second release renames the field, and stores the new version.
  await kubewright('create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
  await kubewright('create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion')
  edit('src/home.ts', /(v2: \{[\s\S]*?)color:/, '$1paint:')
  // Nothing is lost silently: the test of the conversion fails until it converts the field.
  await expect(run('npm', 'test', '--silent')).rejects.toThrow(/homeConversion loses no field between versions/)
  edit(
    'src/home.conversion.ts',
    'toHub: ({ spec, status }) => ({ spec, status })',
    'toHub: ({ spec, status }) => ({ spec: { paint: spec.color }, status })',
  )
  edit(
    'src/home.conversion.ts',
    'fromHub: ({ spec, status }) => ({ spec, status })',
    'fromHub: ({ spec, status }) => ({ spec: { color: spec.paint }, status })',
  )
  edit('src/home.test.ts', "{ color: 'red' }", "{ paint: 'red' }")
  await run('npm', 'run', '--silent', 'typecheck')
  expect(await run('npm', 'test', '--silent')).toMatch(/2 passed/)
  await kubewright('generate', '--image', 'registry.example.com/homes:2.0.0')

  // The customer upgrades while 25 objects are stored in v1.
  expect(await kubewright('deploy', '--rollback')).toContain(
    `${crd} may have objects that are stored in v1: rewrite them with kubewright migrate`,
  )
  expect(await imageOf()).toBe('registry.example.com/homes:2.0.0')
  await using operator = start('run', ...operatorFlags)
  const url = `${crdPath.replace(`/${crd}`, '')}?watch=1&fieldSelector=metadata.name%3D${crd}&timeoutSeconds=60`
  await requests.until(url, ({ spec }) => spec.conversion?.webhook?.clientConfig?.url !== undefined)
  const specs = async (version: string): Promise<object[]> => {
    const { body } = await requests.send('GET', homes(version))
    return (body.items as { spec: object }[]).map(({ spec }) => spec)
  }
  expect(await specs('v2')).toEqual(Array.from({ length: 25 }, () => ({ paint: 'red' })))
  expect(await specs('v1')).toEqual(Array.from({ length: 25 }, () => ({ color: 'red' })))

  // The controllers of the new release may have written some objects before.
  expect(await kubewright('migrate')).toMatch(
    /homes\.ajd\.my\.domain: rewrote \d+ objects? in v2.*; removed v1 from status\.storedVersions/,
  )
  expect((await requests.send('GET', crdPath)).body.status.storedVersions).toEqual(['v2'])
  expect(await specs('v2')).toEqual(Array.from({ length: 25 }, () => ({ paint: 'red' })))

  // The end.
  expect(await kubewright('undeploy', '--yes')).toContain('namespace/homes-system deleted')
  expect((await requests.send('GET', crdPath)).status).toBe(404)
  expect((await requests.send('GET', deployment)).status).toBe(404)
  await operator.stop()
  expect(await up.stop()).toBe(0)
})
