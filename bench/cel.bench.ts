import { CelEnvironment, declareSchema, kubernetesLibraries } from '@kubewright/cel'
import { Environment } from '@marcbachmann/cel-js'
import { webSite, webSiteSchema } from './fixtures/web-site.ts'
import type { Suite } from './harness.ts'

const spec = webSite()['spec'] as Record<string, unknown>
const env = CelEnvironment.create({
  libraries: kubernetesLibraries,
  variables: { self: declareSchema(webSiteSchema.properties!['spec']!)! },
})
const peer = new Environment().registerVariable('self', 'map')
const big = {
  ...spec,
  replicas: BigInt(spec['replicas'] as number),
  maxReplicas: BigInt(spec['maxReplicas'] as number),
  paths: (spec['paths'] as Record<string, unknown>[]).map((p) => ({ ...p, port: BigInt(p['port'] as number) })),
}

const simple = 'self.replicas <= self.maxReplicas'
const list = "self.paths.all(p, p.port > 1000 && p.path.startsWith('/'))"
const regex = "self.domains.all(d, d.matches('^[a-z.]+$'))"
const mixed = "self.mode == 'Dynamic' ? self.paths.exists(p, p.backend == 'api') && size(self.domains) < 5 : true"

const row = (title: string, source: string) => {
  const ours = env.compile(source)
  const theirs = peer.parse(source)
  return {
    title,
    ours: () => ours.evaluate({ self: spec }),
    peers: { 'cel-js (marcbachmann)': () => theirs({ self: big }) },
  }
}

/** Rules that are typical of CRDs. */
export const suite: Suite = {
  title: 'CEL',
  about:
    'Evaluation of compiled rules on the custom resource of the machinery suite. Kubewright checks types against the schema, counts cost and works on plain JSON. The peer gets integers as BigInt, because it would treat JSON numbers as doubles.',
  rows: [
    row('comparison of two fields', simple),
    row('all() over four objects', list),
    row('all() with matches() over three strings', regex),
    row('conditional with exists() and size()', mixed),
    {
      title: 'parse, check and plan a rule',
      ours: () => env.compile(list),
      peers: { 'cel-js (marcbachmann), parse only': () => peer.parse(list) },
      note: 'the peer does not check types here',
    },
  ],
}
