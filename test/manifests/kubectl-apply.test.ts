// kubectl applies config/ twice without a warning, and can delete it again.
import { execFile } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s'
import type { Operator } from '@kubewright/runtime'
import { beforeEach, describe, expect, test } from 'vitest'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { watchObject } from '../../packages/testing/src/watch-object.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from '../kubectl/kubectl.ts'
import { packedModules } from '../scaffold/packed-modules.ts'
import { temporaryProject } from '../scaffold/temporary-project.ts'
import { scenarios } from './operator-scenarios.ts'
import { TemporaryFolder } from './temporary-folder.ts'

beforeEach(({ skip }) => {
  const reason = kubectlMissing() ?? kubectlTooOld()
  if (reason !== undefined) skip(reason)
})

const modules = await packedModules()
const minutes = 60_000

describe('kubectl apply -k and delete -k of an example', () => {
  const operators = new Map<string, Operator>()
  for (const { make } of scenarios) {
    const { operator } = make()
    // The first scenario of each operator has its default installation.
    if (!operators.has(operator.name)) operators.set(operator.name, operator)
  }

  test.concurrent.each([...operators])(
    '%s',
    async (_, operator) => {
      using folder = new TemporaryFolder()
      folder.write(manifestsOf(operator))
      await applyAndDelete(folder.path, { samples: operator.webhooks.length === 0 })
    },
    5 * minutes,
  )
})

describe('kubectl apply -k and delete -k of a new project', () => {
  const home = ['create api --group ajd --version v1 --kind Home']
  const withWebhooks = [
    ...home,
    'create webhook --kind Home --defaulting --programmatic-validation',
    'create api --group ajd --version v2 --kind Home',
    'create webhook --kind Home --version v2 --conversion',
  ]
  test.concurrent.each([
    ['with defaults', 'init --yes', home, ''],
    ['in one namespace, with Prometheus', 'init --yes --namespaced', home, '--prometheus --namespace alone'],
    ['with webhooks and network policies', 'init --yes', withWebhooks, '--network-policy'],
    [
      'with all options',
      'init --yes --namespaced',
      withWebhooks,
      '--cert-manager --prometheus --network-policy --namespace homes',
    ],
  ])(
    '%s',
    async (_, init, steps, flags) => {
      using project = temporaryProject()
      for (const step of [`${init} --domain example.com`, ...steps]) {
        expect(await project.kubewright(...step.split(' '))).toMatchObject({ code: 0 })
      }
      symlinkSync(modules, join(project.folder, 'node_modules'))
      await generate(project.folder, flags.split(' ').filter(Boolean))
      await applyAndDelete(project.folder, { samples: steps === home })
    },
    5 * minutes,
  )
})

/** Runs `kubewright generate` in a separate process. */
function generate(folder: string, flags: readonly string[]): Promise<void> {
  const program = join(modules, '.bin/kubewright')
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, 'generate', ...flags], { cwd: folder, timeout: minutes }, (error) => {
      if (error) reject(error)
      else resolve()
    })
  })
}

/** Applies config/ client-side and server-side, each twice, and deletes it again. */
async function applyAndDelete(project: string, { samples }: { readonly samples: boolean }): Promise<void> {
  // Only the controllers that deletion needs: others would change objects while the test checks for changes.
  const controllers = ['namespace-controller', 'garbage-collector-controller']
  await using plane = await startControlPlane({ nodes: 0, controllers })
  await installForeignKinds(plane)
  using home = new TemporaryFolder()
  const { kubeconfig } = await plane.listen()
  home.write([['kubeconfig', kubeconfig]])
  // Elsewhere than in the project, where kubectl would follow the links of node_modules.
  cpSync(join(project, 'config'), join(home.path, 'config'), { recursive: true })
  const kubectl = new Kubectl(join(home.path, 'kubeconfig'), home.path)
  const quietly = async (...args: string[]): Promise<string[]> => {
    const { code, out, error } = await kubectl.try(args)
    // A warning fails the test.
    expect({ code, error }).toEqual({ code: 0, error: '' })
    return out.trim().split('\n')
  }
  const before = await keysOf(plane)
  for (const how of [['--server-side'], []]) {
    const isServerSide = how.length > 0
    // Samples are applied client-side, as users do.
    const names = samples && !isServerSide ? ['config/default', 'config/samples'] : ['config/default']
    const parts = names.map((name) => join(home.path, name))
    for (const part of parts) {
      await quietly('apply', ...how, '-k', part)
      await allEstablished(plane)
    }
    const revision = await revisionOf(plane)
    for (const part of parts) {
      const again = await quietly('apply', ...how, '-k', part)
      const word = isServerSide ? 'serverside-applied' : 'unchanged'
      expect(again.filter((line) => !line.endsWith(` ${word}`))).toEqual([])
    }
    expect(await revisionOf(plane)).toBe(revision)
    // kubectl deletes the namespace first, so objects in it may already be gone: ignore those that are not found.
    for (const part of parts.toReversed()) await quietly('delete', '--ignore-not-found', '-k', part)
    expect(await keysOf(plane)).toEqual(before)
  }
}

const kinds = [
  ['cert-manager.io', 'v1', 'Certificate', 'certificates'],
  ['cert-manager.io', 'v1', 'Issuer', 'issuers'],
  ['monitoring.coreos.com', 'v1', 'ServiceMonitor', 'servicemonitors'],
  ['monitoring.coreos.com', 'v1', 'PrometheusRule', 'prometheusrules'],
] as const

/** Minimal CRDs of cert-manager and the Prometheus operator. */
async function installForeignKinds(plane: ControlPlane): Promise<void> {
  const client = plane.client()
  for (const [group, version, kind, plural] of kinds) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const
    const versions = [{ name: version, served: true, storage: true, schema }]
    const spec = { group, scope: 'Namespaced', names: { kind, plural }, versions } as const
    await client.create(CustomResourceDefinition({ metadata: { name: `${plural}.${group}` }, spec }))
  }
  await allEstablished(plane)
}

async function allEstablished(plane: ControlPlane): Promise<void> {
  const client = plane.client()
  const signal = AbortSignal.timeout(60_000)
  const isEstablished = (crd: CustomResourceDefinition | undefined): boolean =>
    (crd?.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')
  for (const { metadata } of await client.list(CustomResourceDefinition)) {
    await watchObject(client, CustomResourceDefinition, metadata.name, isEstablished, { namespace: '', signal })
  }
}

/** The resource version of the last change in the cluster. */
const revisionOf = (plane: ControlPlane): Promise<unknown> => plane.server.parts.registry.store.revision()

/** All objects of the cluster. */
async function keysOf(plane: ControlPlane): Promise<string[]> {
  const { entries } = await plane.server.parts.registry.store.list({ prefix: '/registry/' })
  return entries.map(({ key }) => key)
}
