// The commands in separate processes, as users run them.
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startControlPlane } from '@kubewright/controlplane'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubectlMissing } from '../kubectl/kubectl.ts'
import { packedModules } from '../scaffold/packed-modules.ts'
import { TemporaryFolder } from './temporary-folder.ts'

const root = join(import.meta.dirname, '../..')
const modules = await packedModules()
const source = (name: string): string => readFileSync(join(root, 'examples/app-service/src', name), 'utf8')

let folder: TemporaryFolder
beforeAll(() => {
  folder = new TemporaryFolder()
  const manifest = { name: 'app', version: '0.2.0', type: 'module', kubewright: { operator: 'src/operator.ts' } }
  folder.write([
    ['package.json', JSON.stringify(manifest)],
    ['PROJECT', 'version: "3"\n'],
    ...['app-service.ts', 'app-service.controller.ts', 'operator.ts'].map(
      (name) => [`src/${name}`, source(name)] as const,
    ),
  ])
  symlinkSync(modules, join(folder.path, 'node_modules'))
})
afterAll(() => folder?.[Symbol.dispose]())

interface Outcome {
  readonly code: number
  readonly out: string
  readonly notes: string
}

function kubewright(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(modules, '.bin/kubewright'), ...args],
      { cwd: folder.path, timeout: 60_000 },
      (error, out, notes) => resolve({ code: error ? Number(error.code ?? -1) : 0, out, notes }),
    )
    child.stdin?.end()
  })
}

const read = (path: string): string => readFileSync(join(folder.path, path), 'utf8')

describe('kubewright generate', () => {
  test('writes config/, keeps changes, and reports drift', async () => {
    const missing = await kubewright('generate', '--check')
    expect(missing.code).toBe(1)
    expect(missing.out).toContain('+++ config/default/kustomization.yaml')
    expect(missing.notes).toMatch(/files are not up to date: run kubewright generate$/m)

    const first = await kubewright('generate', '--image', 'example.com/app:1.10', '--helm', '--installer', '--bundle')
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('created   config/rbac/role.yaml') as string })
    expect(await kubewright('generate', '--check')).toMatchObject({ code: 0, out: '' })
    expect(read('dist/install.yaml')).toContain('image: example.com/app:1.10')

    folder.write([
      ['config/manager/manager.yaml', `${read('config/manager/manager.yaml')}# mine\n`],
      ['config/rbac/role.yaml', 'rules: []\n'],
    ])
    const drift = await kubewright('generate', '--check')
    expect(drift.code).toBe(1)
    expect(drift.out).toContain('-rules: []\n')
    const again = await kubewright('generate')
    expect(again.out).toBe('updated   config/rbac/role.yaml\n')
    expect(again.notes).toContain('kept      config/manager/manager.yaml, which you changed')
    expect(read('config/manager/manager.yaml')).toContain('# mine')
    const json = await kubewright('generate', '--dry-run', '--force', '--output', 'json')
    const { files } = JSON.parse(json.out) as { files: { path: string; action: string }[] }
    expect(files.filter(({ action }) => action !== 'unchanged')).toEqual([
      { path: 'config/manager/manager.yaml', action: 'replace', difference: '1 line added, 0 removed' },
    ])

    // A variable in config/manager makes all artifacts stale, and is then part of them.
    const manager = read('config/manager/manager.yaml')
    const variable = '        env:\n        - name: REGION\n          value: here\n        image:'
    folder.write([['config/manager/manager.yaml', manager.replace('        image:', variable)]])
    const csv = 'bundle/manifests/app-service-operator.clusterserviceversion.yaml'
    const made = ['dist/install.yaml', 'dist/chart/templates/manager/manager.yaml', csv]
    const stale = await kubewright('generate', '--check')
    expect(stale.code).toBe(1)
    expect(stale.out.match(/(?<=^\+\+\+ ).*$/gm)).toEqual([...made].sort())
    const built = await kubewright('generate')
    expect(built.notes).toContain('kept      config/manager/manager.yaml, which you changed (4 lines added, 0 removed)')
    for (const path of made) expect(read(path), path).toContain('name: REGION')

    // A new field appears in the sample, and so in the bundle.
    folder.write([
      ['src/app-service.ts', read('src/app-service.ts').replace('    image:', '    picture: s.string(),\n    image:')],
    ])
    const changed = await kubewright('generate')
    expect(changed.out).toContain('updated   config/samples/')
    expect(read('bundle/manifests/app-service-operator.clusterserviceversion.yaml')).toContain('"picture": "example-')
    expect(await kubewright('generate', '--check')).toMatchObject({ code: 0, out: '' })
  }, 120_000)

  test('reports the place of an error in the code of the operator', async () => {
    folder.write([['src/broken.ts', `export const operator: unknown = undefined!.name\n`]])
    const broken = await kubewright('generate', 'src/broken.ts')
    expect(broken.code).toBe(1)
    expect(broken.notes).toMatch(/kubewright generate: src\/broken\.ts cannot be loaded: TypeError: /)
    expect(broken.notes).toContain('src/broken.ts:1')
    expect(await kubewright('generate', '--imag', 'x')).toMatchObject({
      code: 2,
      notes: 'kubewright generate: unknown flag --imag: did you mean --image?\nSee kubewright generate --help\n',
    })
  })
})

describe('kubewright install, deploy, undeploy and uninstall', () => {
  test('work on the cluster of a kubeconfig, and use a changed config/', async ({ skip }) => {
    const missing = kubectlMissing()
    if (missing !== undefined) skip(missing)
    await using plane = await startControlPlane({ nodes: 0 })
    const { kubeconfig } = await plane.listen()
    folder.write([
      ['kubeconfig', kubeconfig],
      [
        'config/default/kustomization.yaml',
        read('config/default/kustomization.yaml').replace('app-service-operator-system', 'apps'),
      ],
    ])
    const cluster = ['--kubeconfig', 'kubeconfig']
    expect(await kubewright('install', ...cluster)).toMatchObject({
      code: 0,
      out: 'customresourcedefinition.apiextensions.k8s.io/appservices.batch.example.com created\n',
    })
    const deployed = await kubewright('deploy', '--no-wait', '--image', 'app:v3', '--output', 'json', ...cluster)
    expect(deployed.notes).toContain('Using config/default because you changed config/default/kustomization.yaml')
    const { changes } = JSON.parse(deployed.out) as { changes: { kind: string; name: string; change: string }[] }
    expect(changes).toContainEqual({ apiVersion: 'v1', kind: 'Namespace', name: 'apps', change: 'created' })
    const client = plane.client()
    const kind = await client.kind({ group: 'apps', version: 'v1', kind: 'Deployment' })
    const deployment = await client.get(kind, 'apps/app-service-operator-controller-manager')
    expect(JSON.stringify(deployment)).toContain('"image":"app:v3"')

    const removed = await kubewright('undeploy', ...cluster)
    expect(removed.code).toBe(0)
    expect(removed.out).toMatch(/namespace\/apps deleted\n$/)
    expect(await kubewright('uninstall', ...cluster)).toMatchObject({
      code: 0,
      notes: 'Nothing to do: nothing is installed\n',
    })
    expect((await kubewright('install', '--kubeconfig', 'nowhere')).notes).toContain('nowhere: the file does not exist')
  })
})
