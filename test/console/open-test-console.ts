// A cluster with the console on it, and a browser that shows it.
import { AsyncDisposer, createLogger } from '@kubewright/base'
import { type ApiClient, type ClientOptions, connect } from '@kubewright/client'
import { type Console, type ConsoleSettings, startConsole } from '@kubewright/console'
import { type ControlPlane, type PlaneConfig, startControlPlane } from '@kubewright/controlplane'
import type { Page } from 'playwright-core'
import { buildPage } from '../../tools/build-page.ts'
import { type Look, noBrowser, openTestBrowser, show, type TestBrowser } from './open-test-browser.ts'

export { noBrowser, show }

const variable = 'KUBEWRIGHT_CONSOLE_CLUSTER'

/**
 * The kubeconfig of an empty cluster on which the tests run instead of the embedded control plane. It needs
 * kube-apiserver and kube-controller-manager, but no nodes.
 */
export const realCluster: string | undefined = process.env[variable]

/** Why tests that need simulated nodes or levers do not run; undefined if they do. */
export const noSimulation: string | undefined =
  realCluster === undefined ? undefined : `${variable} names a cluster without simulated nodes`

/** The image of the containers on a real kubelet: one with a shell and httpd, such as busybox. */
export const shellImage: string = process.env['KUBEWRIGHT_CONSOLE_IMAGE'] ?? ''

/** Why tests of real containers do not run; undefined if they do. */
export const noKubelet: string | undefined =
  realCluster === undefined || shellImage === ''
    ? `${variable} and KUBEWRIGHT_CONSOLE_IMAGE name no cluster with a node and no image that it can run`
    : undefined

/** A console on a control plane of its own, or on the cluster of the variable. */
export interface TestConsole extends AsyncDisposable, Pick<TestBrowser, 'browse'> {
  /** The embedded control plane. Throws on a real cluster. */
  readonly plane: ControlPlane
  /** The client of the console. */
  readonly client: ApiClient
  readonly console: Console
  /** A further client with all permissions. */
  connect(options?: Partial<Pick<ClientOptions, 'around'>>): Promise<ApiClient>
  /** Opens the console in a new window, at a route such as `#/operators`. */
  open(route?: string, look?: Look): Promise<Page>
}

const log = createLogger({ enabled: () => true, write: (record) => console.error(record) })

/** Starts a control plane with one node, or connects to the real cluster, and starts a console. */
export async function openTestConsole(
  settings: Partial<ConsoleSettings> | ((plane: ControlPlane) => Partial<ConsoleSettings>) = {},
  config: PlaneConfig = {},
): Promise<TestConsole> {
  const disposer = new AsyncDisposer()
  const plane = realCluster === undefined ? disposer.use(await startControlPlane({ nodes: 1, ...config })) : undefined
  const embedded = (): ControlPlane => {
    if (plane === undefined) throw new Error('The tests run on a real cluster')
    return plane
  }
  const newClient: TestConsole['connect'] = async (options = {}) =>
    plane?.client(options) ?? disposer.use(await connect({ kubeconfig: realCluster, ...options }))
  const client = plane?.client({ isExempt: true }) ?? (await newClient())
  const options = typeof settings === 'function' ? settings(embedded()) : settings
  const page = await buildPage()
  const browser = disposer.use(openTestBrowser())
  const started = disposer.use(await startConsole({ client, page, log, cluster: 'test', ...options }))
  return {
    get plane() {
      return embedded()
    },
    client,
    console: started,
    connect: newClient,
    open: (route, look) => browser.browse(started, route, look),
    browse: (web, route, look) => browser.browse(web, route, look),
    [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
  }
}
