// Imported modules compile in strict mode and have the types of their CRDs.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crdOf } from '@kubewright/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { EtcdCluster } from '../../examples/etcd-cluster/src/etcd-cluster.ts'
import { Home } from '../../examples/home/src/home.ts'
import { runCli } from './run-cli.ts'

const root = join(import.meta.dirname, '../..')
let folder: string

beforeAll(() => {
  // Below the repository, so that modules find the packages.
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'kubewright-import-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** The errors of the compiler for all modules of the folder. */
function compile(): Promise<string> {
  const compilerOptions = {
    composite: false,
    declaration: false,
    declarationMap: false,
    emitDeclarationOnly: false,
    isolatedDeclarations: false,
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    customConditions: ['kubewright-source'],
  }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, include: ['.'] }
  const file = write('tsconfig.json', JSON.stringify(config))
  return new Promise((resolve) => {
    const args = [join(root, 'node_modules/ts7/bin/tsc'), '-p', file]
    execFile(process.execPath, args, { cwd: folder }, (_, out, error) => resolve(out + error))
  })
}

// One field for each keyword of a CRD.
const gadget = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['mode', 'name'],
                properties: {
                  name: { type: 'string', pattern: "^[a-z']+$" },
                  mode: { type: 'string', enum: ['fast', 'slow'] },
                  count: { type: 'integer', default: 1 },
                  port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                  anything: { 'x-kubernetes-preserve-unknown-fields': true },
                  note: { type: 'string', nullable: true },
                  odd: { type: 'string', format: 'textarea' },
                  parts: {
                    type: 'array',
                    items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id'],
                  },
                },
                oneOf: [{ required: ['port'] }, { required: ['labels'] }],
              },
            },
          },
        },
      },
    ],
  },
}

describe('imported modules', () => {
  test('compile, and have the types of their CRDs', async () => {
    const crds = [gadget, ...[Home, AppService, EtcdCluster].map((kind) => crdOf(kind))]
    const file = write('crds.json', crds.map((crd) => JSON.stringify(crd)).join('\n'))
    const out = join(folder, 'imported')
    const { code, notes } = await runCli(['import', file, '--out', out])
    expect(notes).not.toContain('differs')
    expect(code).toBe(0)
    write(
      'use.ts',
      `import { Gadget } from './imported/example.com/gadget.ts'
const draft = Gadget({ metadata: { name: 'a' }, spec: { name: 'a', mode: 'fast', port: 'http', parts: [{ id: 'x' }] } })
export const odd: string | undefined = draft.spec.odd
export function read(gadget: Gadget): readonly [number, 'fast' | 'slow', string | null | undefined] {
  return [gadget.spec.count, gadget.spec.mode, gadget.spec.note]
}
// @ts-expect-error mode is one of two
Gadget({ metadata: { name: 'a' }, spec: { name: 'a', mode: 'other' } })
// @ts-expect-error name is required
Gadget({ metadata: { name: 'a' }, spec: { mode: 'fast' } })
// @ts-expect-error parts have an id
Gadget({ metadata: { name: 'a' }, spec: { name: 'a', mode: 'fast', parts: [{}] } })
`,
    )
    expect(await compile()).toBe('')
  })
})
