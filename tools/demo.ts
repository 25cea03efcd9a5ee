// `npm run demo`: a tour of what exists today, live. It ends by itself.
import { crdOf, createFieldManager, encodeYaml, newInvalid } from '@kubewright/api'
import { compileSchema, type FieldError, s } from '@kubewright/schema'
import { assembleServer, createServerIdentity, listen } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { defineResource } from 'kubewright'
import { demoClient } from './demo-client.ts'

const colour = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
const title = (text: string): void => console.log(`\n${paint(1, `━━ ${text} `.padEnd(78, '━'))}\n`)
const say = (text: string): void => console.log(paint(2, text))
const show = (value: unknown): void => console.log(encodeYaml(value).trimEnd().replace(/^/gm, '  '))

console.log(paint(1, 'Kubewright: Kubernetes operators in TypeScript'))
say(
  'What works today: the API machinery and the API server. Controllers and the operator runtime come next (CHANGELOG.md).',
)

title('1. A custom resource is one value')
const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  shortNames: ['hm'],
  spec: s.object({
    image: s.string({ minLength: 1 }).describe('Container image to serve.'),
    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
    domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
  }),
  status: s.object({ readyReplicas: s.int(), conditions: s.conditions('Ready') }),
  columns: { Ready: '.status.readyReplicas', Domain: '.spec.domain' },
})
say('Its CustomResourceDefinition is derived from it (spec of the schema shown):')
const crd = crdOf(Home)
const version = crd.spec.versions[0]!
show({ name: crd.metadata.name, columns: version.additionalPrinterColumns })
show(version.schema.openAPIV3Schema.properties?.['spec'])

title('2. What an API server does with an object of it')
const schema = compileSchema(version.schema.openAPIV3Schema)
const cosy = Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx:1.27', domain: 'cosy.example.com' } })
say('Pruning and defaulting: a typo is dropped, replicas is filled.')
const sent = { ...cosy, spec: { ...cosy.spec, replica: 3 } }
const pruned = schema.prune(sent)
schema.default(sent)
show({ pruned, spec: sent.spec })

const refuse = (errors: readonly FieldError[]): void => {
  const { status } = newInvalid({ group: 'ajd.example.com', kind: 'Home' }, 'cosy', errors)
  console.log(`  ${paint(31, status.message ?? '')}`)
}
say('\nValidation, in the words of kube-apiserver:')
refuse(schema.validate({ ...sent, spec: { image: '', replicas: 12, domain: 'not a host' } }))
say('A CEL transition rule on an update:')
refuse(schema.validateUpdate({ ...sent, spec: { ...sent.spec, domain: 'other.example.com' } }, sent))

title('3. Server-side apply: two managers, one object')
const manager = createFieldManager({
  apiVersion: Home.apiVersion,
  kind: Home.kind,
  schemaFor: () => version.schema.openAPIV3Schema,
})
const now = '2026-01-02T03:04:05Z'
const config = (spec: object): Record<string, unknown> => ({
  apiVersion: Home.apiVersion,
  kind: Home.kind,
  metadata: { name: 'cosy' },
  spec,
})
const live = manager.apply(undefined, config({ image: 'nginx:1.27', replicas: 2 }), { manager: 'gitops', now }).object
say('gitops applied image and replicas; an autoscaler now wants replicas: 5.')
try {
  manager.apply(live, config({ replicas: 5 }), { manager: 'autoscaler', now })
} catch (error) {
  console.log(`  ${paint(31, (error as Error).message)}`)
}
say('With force it takes the field over, and ownership says so:')
const forced = manager.apply(live, config({ replicas: 5 }), { manager: 'autoscaler', now, force: true }).object
const { managedFields } = forced['metadata'] as { managedFields: { manager: string; fieldsV1: unknown }[] }
show(Object.fromEntries(managedFields.map((entry) => [entry.manager, entry.fieldsV1])))

title('4. A Kubernetes API server in this process')
const started = performance.now()
const { ca, serving } = createServerIdentity(Date.now())
await using store = new MemoryStore()
await using server = await assembleServer({
  store,
  access: { tokens: [{ token: 'demo', user: { name: 'demo', groups: ['system:masters'] } }] },
})
await using listener = await listen({
  handler: server.handler,
  cert: serving.cert,
  key: serving.key,
  clientCas: [ca.cert],
})
const url = `https://127.0.0.1:${listener.port}`
say(`Serving ${url} after ${(performance.now() - started).toFixed(0)} ms. Applying the CRD, then a Home, over HTTPS:`)
const client = demoClient(url, ca.cert, 'demo')
const homes = `/apis/${Home.apiVersion}/namespaces/default/homes`
console.log(`  ${(await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).text}`)
await client.until(homes)
console.log(`  ${(await client.create(homes, cosy)).text}`)
say('\nWhat the server says to a second one that breaks the rules, and to a change of the domain:')
const shed = { ...cosy, metadata: { name: 'shed' }, spec: { image: '', replicas: 99 } }
console.log(`  ${paint(31, (await client.create(homes, shed)).text)}`)
console.log(`  ${paint(31, (await client.merge(`${homes}/cosy`, { spec: { domain: 'other.example.com' } })).text)}`)
say('\nA watch sees what happens next, as kubectl would print it:')
const watching = client.watchTable(homes, 2)
await client.merge(`${homes}/cosy`, { spec: { replicas: 3 } })
await client.merge(`${homes}/cosy/status`, { status: { readyReplicas: 3, conditions: [] } })
console.log((await watching).replace(/^/gm, '  '))

console.log(`
Next: ${paint(1, 'npm run kubewright -- up')} keeps such a server running for kubectl; ${paint(1, 'npm test')}, ${paint(1, 'npm run bench')}, README.md`)
