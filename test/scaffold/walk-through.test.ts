// From an empty folder to a running operator with webhooks and two versions, command by command, with packages from a registry.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@kubewright/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CliProcess } from '../dev/cli-process.ts'
import { Requests } from '../up/requests.ts'
import { configuredRegistry, npmEnvironment, startLocalRegistry, whyUnreachable } from './local-registry.ts'
import { installPacked, packPackages } from './packed-modules.ts'

const parent = mkdtempSync(join(tmpdir(), 'kubewright-walk-'))
const folder = join(parent, 'homes')
const cli = join(folder, 'node_modules/@kubewright/cli/dist/main.js')
// The environment of a user, without the settings of this repository.
const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '', VITEST: undefined, KUBECONFIG: undefined }
const operatorPackages = [
  ...['api', 'base', 'cel', 'client', 'k8s', 'runtime', 'schema'].map((name) => `@kubewright/${name}`),
  'kubewright',
]
const homes = (version: string): string => `/apis/ajd.my.domain/${version}/namespaces/default/homes`

/** The packages in an image of the project: those that are not development dependencies. */
let shipped: readonly string[] | undefined

beforeAll(async () => {
  mkdirSync(folder)
  const registry = configuredRegistry()
  const problem = await whyUnreachable(registry, 'vitest')
  if (problem !== undefined) {
    console.log(`No registry is reachable (${problem}): packages are unpacked and linked instead of installed by npm`)
    await installPacked(folder)
    await kubewright('init', '--yes')
    return
  }
  // As a new user: the folder is empty, and npm downloads the packages.
  await using local = await startLocalRegistry(await packPackages(parent), registry)
  const settings = npmEnvironment(local.url, parent)
  await runWith(settings, 'npx', '--yes', 'kubewright', 'init', '--yes')
  expect(await runWith(settings, 'npm', 'install')).not.toMatch(/ERESOLVE|EBADENGINE|install-scripts|vulnerabilit/)
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: true; devOptional?: true }> }
  const entries = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev)
  shipped = entries.map(([path]) => path.replace('node_modules/', ''))
}, 300_000)

// npm installed many files.
afterAll(() => rmSync(parent, { recursive: true, force: true }), 120_000)

/** Runs a program to its end. Rejects with its output if it fails. */
function run(program: string, ...args: string[]): Promise<string> {
  return runWith(env, program, ...args)
}

function runWith(env: NodeJS.ProcessEnv, program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr)
      else reject(new Error(`${[program, ...args].join(' ')} failed:\n${stdout}${stderr}`))
    })
  })
}

const kubewright = (...args: string[]): Promise<string> => run(process.execPath, cli, ...args)
const start = (...args: string[]): CliProcess => CliProcess.startProgram(cli, args, folder, env)
const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)

function edit(path: string, ...changes: [from: string | RegExp, to: string][]): void {
  let text = read(path)
  for (const [from, to] of changes) {
    if (!(typeof from === 'string' ? text.includes(from) : from.test(text))) throw new Error(`${path} has no ${from}`)
    text = text.replace(from, to)
  }
  write(path, text)
}

test('the Home walk-through', { timeout: 600_000 }, async () => {
  // The empty folder has become a project, whose image contains no API server. Add a kind.
  if (shipped !== undefined) expect(shipped.filter((name) => name.includes('kubewright'))).toEqual(operatorPackages)
  expect(await kubewright('create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home')).toContain(
    'created   src/home.controller.ts',
  )
  await run('npm', 'run', '--silent', 'typecheck')
  expect(await run('npm', 'test', '--silent')).toMatch(/1 passed/)

  // Edit the kind and the controller.
  edit('src/home.ts', [
    / {4}\/\/ Replace this example[\s\S]*?optional\(\),\n/,
    `    image: s.string({ minLength: 1 }),\n    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),\n`,
  ])
  edit(
    'src/home.controller.ts',
    ['import { Home }', "import { Deployment } from 'kubewright/k8s'\nimport { Home }"],
    ['  // Called for', '  owns: [Deployment],\n\n  // Called for'],
    ['async reconcile(home, { log })', 'async reconcile(home, { apply })'],
    [
      / {4}log\.info\('Reconciling'.*\n/,
      `    const { status } = await apply(deploymentFor(home))
    const isReady = (status?.readyReplicas ?? 0) >= home.spec.replicas\n`,
    ],
    ["'Ready', true, 'Reconciled'", "'Ready', isReady, isReady ? 'Serving' : 'RollingOut'"],
  )
  write(
    'src/home.controller.ts',
    `${read('src/home.controller.ts')}
const deploymentFor = (home: Home) => {
  const labels = { home: home.metadata.name }
  return Deployment({
    metadata: { name: home.metadata.name },
    spec: {
      replicas: home.spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: home.spec.image }] } },
    },
  })
}
`,
  )
  edit('src/home.test.ts', ["['spec'] = {}", "['spec'] = { image: 'nginx:1.27' }"])
  edit('config/samples/ajd_v1_home.yaml', ['foo: bar', 'image: nginx:1.27\n  replicas: 2'])
  await run('npm', 'run', '--silent', 'typecheck')
  expect(await run('npm', 'test', '--silent')).toMatch(/1 passed/)

  // Generate manifests, and install the CRD in a cluster.
  await kubewright('generate')
  expect(read('config/crd/bases/ajd.my.domain_homes.yaml')).toContain('maximum: 9')
  await kubewright('generate', '--check')
  expect(await kubewright('validate', 'config/samples', '--crd', 'config/crd')).toContain('is valid')
  expect(await kubewright('explain', 'homes.spec', '--crd', 'config/crd')).toContain('replicas')
  const cluster = join(folder, '.kubewright/cluster')
  await using up = start('up', '--memory', '--port', '0', '--kubeconfig', cluster)
  await up.line(/^ready /)
  await kubewright('install', '--kubeconfig', cluster)
  using inCluster = new Requests(cluster)
  expect((await inCluster.send('GET', homes('v1'))).body).toMatchObject({ kind: 'HomeList', items: [] })

  // Run the operator on its own control plane.
  await using dev = start('dev')
  await dev.line(/ homes {2}started in/)
  using requests = new Requests(join(folder, '.kubewright/kubeconfig'))
  const sample = parseYaml(read('config/samples/ajd_v1_home.yaml'))
  expect((await requests.send('POST', homes('v1'), sample)).status).toBe(201)
  const watch = `${homes('v1')}?watch=1&fieldSelector=metadata.name%3Dhome-sample&timeoutSeconds=30`
  await requests.until(watch, ({ status }) => status?.conditions?.[0]?.status === 'True')
  const pods = '/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=30'
  await requests.until(
    pods,
    ({ metadata, status }) => metadata.labels.home === 'home-sample' && status.phase === 'Running',
  )

  // Add webhooks while it runs.
  let at = dev.lines.length
  await kubewright('create', 'webhook', '--kind', 'Home', '--defaulting', '--programmatic-validation')
  edit('src/home.webhook.test.ts', ["['spec'] = {}", "['spec'] = { image: 'nginx:1.27' }"])
  ;({ at } = await dev.line(/ homes {2}reloaded in .*1 webhook/, at))
  const named = (name: string): object => ({ ...(sample as object), metadata: { name } })
  const cosy = await requests.send('POST', homes('v1'), named('cosy'))
  expect(cosy.body.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'homes' })
  const denied = await requests.send('POST', homes('v1'), named('x'.repeat(53)))
  expect(denied.status).toBe(422)
  expect(denied.body.message).toContain('must be no more than 52 characters')
  await dev.line(/create by \S+ denied by webhook/, at)

  // Add a second version, in which the field replicas is called size.
  await kubewright('create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
  await kubewright('create', 'webhook', '--kind', 'Home', '--version', 'v1', '--conversion', '--spoke', 'v2')
  edit('src/home.ts', [/(v2: \{[\s\S]*?)replicas:/, '$1size:'])
  // The generated test fails for the field that the conversion does not cover yet.
  await expect(run('npm', 'test', '--silent')).rejects.toThrow(/homeConversion loses no field between versions/)
  at = dev.lines.length
  edit(
    'src/home.conversion.ts',
    [
      'toHub: ({ spec, status }) => ({ spec, status })',
      'toHub: ({ spec: { size, ...spec }, status }) => ({ spec: { ...spec, replicas: size }, status })',
    ],
    [
      'fromHub: ({ spec, status }) => ({ spec, status })',
      'fromHub: ({ spec: { replicas, ...spec }, status }) => ({ spec: { ...spec, size: replicas }, status })',
    ],
  )
  ;({ at } = await dev.line(/ reloading because src\/home\.conversion\.ts changed$/, at))
  await dev.line(/ homes {2}reloaded in .*1 conversion/, at)
  const converted = await requests.send('GET', `${homes('v2')}/home-sample`)
  expect(converted.body.spec).toEqual({ image: 'nginx:1.27', size: 2 })
  await run('npm', 'run', '--silent', 'typecheck')
  expect(await run('npm', 'test', '--silent')).toMatch(/5 passed/)
  expect(await dev.stop()).toBe(0)

  // Build the program that runs in the cluster, and generate its manifests.
  await run('npm', 'run', '--silent', 'build')
  expect(await run(process.execPath, 'dist/main.js', '--help')).toContain('Usage: homes [FLAGS]')
  await kubewright('generate')

  await kubewright('install', '--kubeconfig', cluster)
  await kubewright('uninstall', '--yes', '--kubeconfig', cluster)
  expect((await inCluster.send('GET', homes('v1'))).status).toBe(404)
  expect(await up.stop()).toBe(0)
})
