// The operator of the runtime benchmark on Kubewright.
import { defineController, defineOperator, defineResource, run, s } from 'kubewright'
import { ConfigMap } from 'kubewright/k8s'
import { group, Progress, plural, taskOfArguments, version } from './operator-report.ts'

const task = taskOfArguments()
const progress = new Progress(task)

const Site = defineResource({
  group,
  version,
  kind: 'Site',
  plural,
  spec: s.object({ image: s.string() }),
  status: s.object({ done: s.int() }),
})

const sites = defineController(Site, {
  owns: [ConfigMap],
  concurrency: task.workers,
  async reconcile(site, { apply }) {
    if (site.status?.done === 1) progress.finished(site.metadata.name, site.metadata.annotations)
    await apply(ConfigMap({ metadata: { name: site.metadata.name }, data: { image: site.spec.image } }))
    return { status: { done: 1 } }
  },
})

process.argv.splice(
  2,
  Number.POSITIVE_INFINITY,
  '--kubeconfig',
  task.kubeconfig,
  '--health-probe-bind-address=127.0.0.1:0',
)
process.env['WATCH_NAMESPACE'] = task.namespace
await run(defineOperator({ name: 'bench-operator', controllers: [sites] }))
