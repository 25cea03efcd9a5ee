// The operator of the runtime benchmark on @kubernetes/client-node: its informer, and a hand-written queue of keys.
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node'
import { group, Progress, plural, taskOfArguments, version } from './operator-report.ts'

const task = taskOfArguments()
const progress = new Progress(task)
const { namespace } = task
const config = new KubeConfig()
config.loadFromFile(task.kubeconfig)
const core = config.makeApiClient(CoreV1Api)
const custom = config.makeApiClient(CustomObjectsApi)

interface Site {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly annotations?: Record<string, string> }
  readonly spec?: { readonly image: string }
  readonly status?: { readonly done: number }
}

const waiting = new Set<string>()
const working = new Set<string>()

const address = { group, version, namespace, plural }
const list = (): Promise<KubernetesListObject<Site>> => custom.listNamespacedCustomObject(address)
const informer = makeInformer<Site>(config, `/apis/${group}/${version}/namespaces/${namespace}/${plural}`, list)
const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

async function reconcile(name: string): Promise<void> {
  const site = informer.get(name, namespace)
  if (site === undefined) return
  if (site.status?.done === 1) {
    progress.finished(name, site.metadata?.annotations)
    return
  }
  const owner = {
    apiVersion: `${group}/${version}`,
    kind: 'Site',
    name,
    uid: site.metadata?.uid ?? '',
    controller: true,
  }
  const body = { metadata: { name, ownerReferences: [owner] }, data: { image: site.spec?.image ?? '' } }
  try {
    await core.createNamespacedConfigMap({ namespace, body })
  } catch (error) {
    if ((error as { code?: number }).code !== 409) throw error
  }
  await custom.patchNamespacedCustomObjectStatus({ ...address, name, body: { status: { done: 1 } } }, mergePatch)
}

async function work(name: string): Promise<void> {
  working.add(name)
  try {
    await reconcile(name)
  } catch {
    waiting.add(name)
  }
  working.delete(name)
  next()
}

function next(): void {
  for (const name of waiting) {
    if (working.size >= task.workers) return
    if (working.has(name)) continue
    waiting.delete(name)
    void work(name)
  }
}

const enqueue = (site: Site): void => {
  waiting.add(site.metadata?.name ?? '')
  next()
}
informer.on('add', enqueue)
informer.on('update', enqueue)
await informer.start()
