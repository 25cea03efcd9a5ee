// import, explain, crd diff and doctor against an API server with an extension server; explain is compared with kubectl.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyKind, crdOf } from '@kubewright/api'
import { type ApiClient, connect } from '@kubewright/client'
import { APIService, ConfigMap, CustomResourceDefinition, Service } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningExtension, startExtension } from '../../examples/extension-server/src/extension-server.ts'
import { Home } from '../../examples/home/src/home.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from '../kubectl/kubectl.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'
import { type CliResult, runCli } from './run-cli.ts'

let folder: TemporaryFolder
let up: UpProcess
let client: ApiClient
let extension: RunningExtension
const cli = (...args: string[]): Promise<CliResult> => runCli(args, { KUBECONFIG: up.kubeconfig })

beforeAll(async () => {
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory', '--controllers', 'none'], folder.path)
  client = await connect({ kubeconfig: up.kubeconfig })
  await client.create(CustomResourceDefinition(crdOf(Home) as never))
  await until(CustomResourceDefinition, 'Established')
  const { data } = await client.get(ConfigMap, { namespace: 'kube-system', name: 'extension-apiserver-authentication' })
  extension = await startExtension(data?.['requestheader-client-ca-file'] ?? '', Date.now())
  const [service, api] = extension.manifests
  await client.create(Service(service as never))
  await client.create(APIService(api as never))
  await until(APIService, 'Available', 'v1.hello.example.com')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await extension?.[Symbol.asyncDispose]()
  await up?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

/** Waits until an object of a kind has a true condition. */
async function until(kind: AnyKind, wanted: string, name?: string): Promise<void> {
  const watch = await client.watch(kind, { sendInitialEvents: true, signal: AbortSignal.timeout(20_000) })
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') continue
    const { metadata, status } = event.object as { metadata: { name: string }; status?: { conditions?: unknown[] } }
    if (name !== undefined && metadata.name !== name) continue
    const conditions = (status?.conditions ?? []) as { type: string; status: string }[]
    if (conditions.some((condition) => condition.type === wanted && condition.status === 'True')) return
  }
  throw new Error(`${name ?? kind.kind} did not become ${wanted}`)
}

describe('kubewright import --cluster', () => {
  test('imports CRDs and kinds of extension servers', async () => {
    const out = join(folder.path, 'imported')
    const { code, out: said } = await cli('import', '--cluster', '--out', out)
    expect(code).toBe(0)
    expect(said).toContain('Home of ajd.my.domain')
    expect(said).toContain('Greeting of hello.example.com v1')
    expect(readFileSync(join(out, 'hello.example.com/greeting.ts'), 'utf8')).toContain(
      ".describe('The person to greet.')",
    )
  })

  test('imports kinds by group, kind or short name', async () => {
    const named = async (name: string): Promise<string> =>
      (await cli('import', '--cluster', name, '--dry-run', '--out', folder.path)).out
    expect(await named('hi')).toMatch(/Greeting/)
    expect(await named('hello.example.com')).not.toMatch(/Home/)
    expect(await named('Home')).not.toMatch(/Greeting/)
    expect(await cli('import', '--cluster', 'nothing')).toMatchObject({
      code: 1,
      notes: expect.stringContaining(
        'the cluster has no CustomResourceDefinition of apiextensions.k8s.io/v1 named nothing',
      ),
    })
    expect(await cli('import', '--cluster', 'deploy')).toMatchObject({
      code: 1,
      notes: 'kubewright import: nothing to import: kubewright/k8s exports Deployment with types',
    })
  })
})

describe('kubewright crd diff --cluster', () => {
  test('compares with the installed CRDs', async () => {
    const file = join(folder.path, 'crds')
    mkdirSync(file)
    const crd = crdOf(Home)
    writeFileSync(join(file, 'home.json'), JSON.stringify(crd))
    expect(await cli('crd', 'diff', '--cluster', file)).toMatchObject({
      code: 0,
      notes: 'The CRDs do not differ',
    })
    writeFileSync(join(file, 'home.json'), JSON.stringify({ ...crd, spec: { ...crd.spec, scope: 'Cluster' } }))
    expect(await cli('crd', 'diff', '--cluster', file)).toMatchObject({
      code: 1,
      out: expect.stringContaining('breaking  scope changed from Namespaced to Cluster'),
    })
  })
})

describe('kubewright explain', () => {
  test('equals the output of kubectl byte for byte', async ({ skip }) => {
    const missing = kubectlMissing() ?? kubectlTooOld()
    if (missing !== undefined) skip(missing)
    const kubectl = new Kubectl(up.kubeconfig, folder.path)
    const crd = join(folder.path, 'explain.json')
    writeFileSync(crd, JSON.stringify(crdOf(Home)))
    const cases = [
      ['pods'],
      ['pods.spec.containers'],
      ['deploy.spec.replicas'],
      ['service.spec.type'],
      ['crd.spec.versions.schema'],
      ['pod.spec', '--recursive'],
      ['homes'],
      ['homes.ajd.my.domain.spec'],
      ['home', '--recursive'],
      ['hpa.spec', '--api-version', 'autoscaling/v1'],
    ]
    for (const args of cases) {
      const expected = await kubectl.run(['explain', ...args])
      expect(`${(await runCli(['explain', ...args, '--crd', crd])).out}\n`, args.join(' ')).toBe(expected)
      expect(`${(await cli('explain', '--cluster', ...args)).out}\n`, args.join(' ')).toBe(expected)
    }
  })
})

describe('kubewright doctor', () => {
  test('passes for an operator whose CRDs are installed', async () => {
    const { code, out } = await cli('doctor', 'examples/home')
    expect(out).toMatch(/^ok +Node /m)
    expect(out).toMatch(/^ok +Cluster +answers, Kubernetes v1\.35\.8, as kubernetes-admin$/m)
    expect(out).toMatch(/^ok +CRDs +homes\.ajd\.my\.domain installed$/m)
    expect(out).toMatch(/^ok +Permissions +all \d+ permissions of home-operator are granted$/m)
    expect(code).toBe(0)
  })

  test('names the fix for a missing CRD', async () => {
    const { code, out, notes } = await cli('doctor', 'examples/foo')
    expect(code).toBe(1)
    expect(out).toMatch(/^failed +CRDs +foos\.\S+ is not installed\n +→ run kubewright install$/m)
    expect(notes).toBe('1 failed')
  })

  test('prints JSON, and reports a missing kubeconfig', async () => {
    const { code, out } = await runCli(['doctor', '--output', 'json'], { KUBECONFIG: join(folder.path, 'none') })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      healthy: false,
      findings: [
        { check: 'Node' },
        { check: 'Operator', level: 'skipped' },
        { check: 'Kubeconfig', level: 'failed', fix: expect.stringContaining('kubewright up') },
      ],
    })
  })
})
