// Bundles an example with `kubewright build` and runs the file, without any packages beside it, against a control plane.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crdOf } from '@kubewright/api'
import { startControlPlane } from '@kubewright/controlplane'
import { Deployment } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Foo } from '../../examples/foo/src/foo.ts'

const root = join(import.meta.dirname, '../..')
let folder: string
let file: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-one-file-'))
  file = join(folder, 'operator.mjs')
  const node = ['--conditions=kubewright-source', '--import', 'tsx', 'packages/cli/src/main.ts']
  execFileSync(process.execPath, [...node, 'build', 'examples/foo', '--outfile', file], { cwd: root })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

describe('kubewright build', () => {
  test('writes an operator that needs Node only', () => {
    const help = execFileSync(process.execPath, [file, '--help'], { cwd: folder, encoding: 'utf8' })
    expect(help).toContain('Usage: foo-operator [FLAGS]')
    const imports = [...readFileSync(file, 'utf8').matchAll(/\bfrom"([^"]+)"/g)].map(([, name]) => name!)
    expect(imports.filter((name) => !name.startsWith('node:'))).toEqual([])
  })

  test('writes an operator that reconciles', async () => {
    await using plane = await startControlPlane({ nodes: 0 })
    const { kubeconfig } = await plane.listen()
    writeFileSync(join(folder, 'kubeconfig'), kubeconfig)
    const client = plane.client()
    await client.create(crdOf(Foo))
    const flags = ['--kubeconfig=kubeconfig', '--metrics-bind-address=0', '--health-probe-bind-address=0']
    const child = spawn(process.execPath, [file, ...flags], {
      cwd: folder,
      env: { ...process.env, WATCH_NAMESPACE: 'default', POD_NAMESPACE: 'default' },
      stdio: 'inherit',
    })
    try {
      const draft = { metadata: { name: 'a', namespace: 'default' }, spec: { deploymentName: 'a', replicas: 1 } }
      await expect
        .poll(() =>
          client.create(Foo(draft)).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      await expect.poll(() => client.find(Deployment, { name: 'a', namespace: 'default' })).toBeDefined()
    } finally {
      expect(await stop(child)).toBe(0)
    }
  })
})
