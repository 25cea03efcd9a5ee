// Creates CustomResourceDefinitions until all of them are established, then reads discovery and OpenAPI.
import { startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s'
import { report, taken } from '../controlplane/process-figures.ts'
import { peakMiB } from '../peak-memory.ts'
import { countKeys, inBatches, progress, readAll, until, usedMiB } from './measure-size.ts'

const count = Number(process.argv[2])
// Groups of ten kinds, as projects with many kinds have.
const perGroup = 10

const plane = await startControlPlane()
const client = plane.client()
const transport = plane.transport()
const idleMiB = usedMiB()
let made = 0
const timer = setInterval(() => progress(`${made} of ${count} definitions created`), 10_000)
const created = await taken(() =>
  inBatches(count, async (index) => {
    await client.create(definition(index))
    made++
  }),
)
clearInterval(timer)
const last = definition(count - 1)
const { group } = last.spec
const served = await taken(() =>
  until(async () => {
    const path = `/apis/${group}/v1/${last.spec.names.plural}`
    const { status, body } = await transport.send({ method: 'GET', path })
    await body.bytes()
    return status === 200
  }),
)
progress(`${count} definitions served`)
const fullMiB = usedMiB()
const aggregated = await taken(async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  await (await transport.send({ method: 'GET', path: '/apis', headers: { accept } })).body.bytes()
})
const openapi2 = await taken(() => readAll(transport, '/openapi/v2'))
const openapi3 = await taken(() => readAll(transport, `/openapi/v3/apis/${group}/v1`))
const another = await taken(() => client.create(definition(count)))
const settled = await taken(() => readAll(transport, '/openapi/v2'))
const objects = await countKeys(plane, '/registry/')
report({
  ...{ definitions: count, objects, created, served, idleMiB, fullMiB, aggregated, openapi2, openapi3 },
  ...{ another, settled, peakMiB: peakMiB() },
})
process.exit(0)

function definition(index: number) {
  const group = `size-${Math.floor(index / perGroup)}.example.com`
  const plural = `things${index}`
  const text = { type: 'string', maxLength: 100 }
  const spec = {
    type: 'object',
    required: ['image'],
    properties: {
      image: text,
      replicas: { type: 'integer', minimum: 0, default: 1 },
      ports: { type: 'array', items: { type: 'object', properties: { name: text, port: { type: 'integer' } } } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      mode: { type: 'string', enum: ['Fast', 'Safe'] },
    },
  }
  const status = { type: 'object', properties: { phase: text, ready: { type: 'integer' } } }
  return CustomResourceDefinition({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: `thing${index}`, kind: `Thing${index}`, listKind: `Thing${index}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        },
      ],
    },
  })
}
