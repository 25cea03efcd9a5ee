// Webhooks of an operator that is deployed to a control plane on this machine and runs as a process on it.
import { crdOf, type KubeObject } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import { Service } from '@kubewright/k8s'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { startWebhooks } from '@kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { Home } from '../../examples/home/src/home.ts'
import { operator } from '../../examples/home/src/operator.ts'
import { identityOf } from '../../packages/cli/src/dev/grant-roles.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'

const namespace = `${operator.name}-system`

/** Applies what `kubewright deploy` applies. */
async function deploy(client: ApiClient): Promise<void> {
  const objects = installObjects(describeOperator(operator)) as unknown as KubeObject[]
  for (const object of objects) await client.apply(object as never, { force: true })
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isDone()); tries++) {
    if (tries > 600) throw new Error(`${what} did not happen`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const isServed = (client: ApiClient) =>
  until('the CRD', async () => {
    const crd = await client.find(CustomResourceDefinition, crdOf(Home).metadata.name)
    return crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
  })

/** A client with the rights of the deployed operator. */
function operatorClient(plane: ControlPlane): ApiClient {
  const { user: name, groups } = identityOf(operator.name)
  return plane.client({ user: { name, groups: [...groups] } })
}

const home = (name: string, image: string) => Home({ metadata: { name, namespace: 'default' }, spec: { image } })

describe('a deployed operator on this machine', () => {
  test('is reached through its Service, with the rights of its roles', async () => {
    await using plane = await startControlPlane({ nodes: 0 })
    const client = plane.client()
    await deploy(client)
    await isServed(client)
    await using running = await startWebhooks(operator, {
      client: operatorClient(plane),
      selfManaged: { namespace },
      port: 0,
      host: '127.0.0.1',
    })
    const name = `${operator.name}-webhook-service`
    await client.patch(
      Service,
      { namespace, name },
      {
        metadata: { annotations: { 'kubewright.dev/local-address': String(running.port) } },
      },
    )
    await until('the webhooks', async () => (await attempt(client, 'first')) === 'admitted')
    expect((await client.get(Home, { name: 'first', namespace: 'default' })).spec.domain).toBeDefined()
    expect((await client.get(Home.versions.v1alpha1, { name: 'first', namespace: 'default' })).metadata.name).toBe(
      'first',
    )
  })

  test('is reached at its URL, with the rights of its roles, and restores the configurations at the end', async () => {
    await using plane = await startControlPlane({ nodes: 0 })
    const client = plane.client()
    await deploy(client)
    await isServed(client)
    const before = await configurations(client)
    const running = await startWebhooks(operator, {
      client: operatorClient(plane),
      url: 'https://127.0.0.1:0',
      port: 0,
      host: '127.0.0.1',
    })
    await until('the webhooks', async () => (await attempt(client, 'first')) === 'admitted')
    expect((await client.get(Home.versions.v1alpha1, { name: 'first', namespace: 'default' })).metadata.name).toBe(
      'first',
    )
    await running[Symbol.asyncDispose]()
    expect(await configurations(client)).toEqual(before)
  })

  test('names the fix when it may not register its webhooks', async () => {
    await using plane = await startControlPlane({ nodes: 0 })
    const client = plane.client()
    await deploy(client)
    await isServed(client)
    for (const { metadata } of await client.list(MutatingWebhookConfiguration)) {
      await client.delete(MutatingWebhookConfiguration, metadata.name)
    }
    const options = { client: operatorClient(plane), url: 'https://127.0.0.1:0', port: 0, host: '127.0.0.1' }
    await expect(startWebhooks(operator, options)).rejects.toThrow("install them with 'kubewright deploy'")
  })
})

/** Creates a Home; the webhooks and their certificates take effect a moment after they were written. */
async function attempt(client: ApiClient, name: string): Promise<string> {
  return client.create(home(name, 'nginx:1.27')).then(
    () => 'admitted',
    (error: Error) => error.message,
  )
}

async function configurations(client: ApiClient): Promise<unknown[]> {
  const found = []
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    for (const { metadata, webhooks } of await client.list(kind)) found.push([metadata.name, webhooks])
  }
  const { spec } = await client.get(CustomResourceDefinition, crdOf(Home).metadata.name)
  return [...found, spec.conversion]
}
