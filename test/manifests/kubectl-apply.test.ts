// What kubectl does with config/ on a cluster: all of it is accepted without a warning, twice, and can be taken away again.
import { execFile } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s'
import type { Operator } from '@kubewright/runtime'
import { beforeEach, describe, expect, it } from 'vitest'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { watchObject } from '../../packages/testing/src/watch-object.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from '../kubectl/kubectl.ts'
import { temporaryProject } from '../scaffold/temporary-project.ts'
import { scenarios } from './operator-scenarios.ts'
import { TemporaryFolder } from './temporary-folder.ts'

beforeEach(({ skip }) => {
  const reason = kubectlMissing() ?? kubectlTooOld()
  if (reason !== undefined) skip(reason)
})

const root = join(import.meta.dirname, '../..')
const minutes = 60_000

describe('kubectl apply -k and delete -k of an example', () => {
  const operators = new Map<string, Operator>()
  for (const { make } of scenarios) {
    const { operator } = make()
    // The first one of each name is the operator as it is; the others are installed in other ways.
    if (!operators.has(operator.name)) operators.set(operator.name, operator)
  }

  it.concurrent.each([...operators])(
    '%s',
    async (_, operator) => {
      using folder = new TemporaryFolder()
      folder.write(manifestsOf(operator))
      await comesAndGoes(folder.path, { samples: operator.webhooks.length === 0 })
    },
    2 * minutes,
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
  it.concurrent.each([
    ['as it is made', 'init --yes', home, ''],
    ['in one namespace, with Prometheus', 'init --yes --namespaced', home, '--prometheus --namespace alone'],
    ['with webhooks and network policies', 'init --yes', withWebhooks, '--network-policy'],
    [
      'with everything',
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
      symlinkSync(join(root, 'node_modules'), join(project.folder, 'node_modules'))
      await generate(project.folder, flags.split(' ').filter(Boolean))
      await comesAndGoes(project.folder, { samples: steps === home })
    },
    3 * minutes,
  )
})

/** Calls `kubewright generate` as users do. */
function generate(folder: string, flags: readonly string[]): Promise<void> {
  const tsx = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href
  const node = ['--conditions=kubewright-source', '--import', tsx, join(root, 'packages/cli/src/main.ts')]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...node, 'generate', ...flags], { cwd: folder, timeout: minutes }, (error) => {
      if (error) reject(error)
      else resolve()
    })
  })
}

/** Applies config/ in both ways that kubectl has, each twice, and deletes it again. */
async function comesAndGoes(project: string, { samples }: { readonly samples: boolean }): Promise<void> {
  // Those that deletion needs; others would change objects while we look whether somebody does.
  const controllers = ['namespace-controller', 'garbage-collector-controller']
  await using plane = await startControlPlane({ nodes: 0, controllers })
  await installForeignKinds(plane)
  using home = new TemporaryFolder()
  const { kubeconfig } = await plane.listen()
  home.write([['kubeconfig', kubeconfig]])
  // Where the project is, kubectl would find its links to modules.
  cpSync(join(project, 'config'), join(home.path, 'config'), { recursive: true })
  const kubectl = new Kubectl(join(home.path, 'kubeconfig'), home.path)
  const quietly = async (...args: string[]): Promise<string[]> => {
    const { code, out, error } = await kubectl.try(args)
    // Warnings are errors here.
    expect({ code, error }).toEqual({ code: 0, error: '' })
    return out.trim().split('\n')
  }
  const before = await keysOf(plane)
  for (const how of [['--server-side'], []]) {
    const isServerSide = how.length > 0
    // Samples the way users apply them; server-side they would go the same.
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
    // The namespace comes first and takes with it what kubectl has not come to yet: a real cluster waits for some seconds.
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

/** Definitions of what cert-manager and the operator of Prometheus bring, as far as kubectl needs them. */
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

/** The last change of the cluster. */
const revisionOf = (plane: ControlPlane): Promise<unknown> => plane.server.parts.registry.store.revision()

/** Everything that the cluster has. */
async function keysOf(plane: ControlPlane): Promise<string[]> {
  const { entries } = await plane.server.parts.registry.store.list({ prefix: '/registry/' })
  return entries.map(({ key }) => key)
}
